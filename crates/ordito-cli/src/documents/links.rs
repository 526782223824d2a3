//! Every link between documents leads to a file that is there.

use super::{Line, lines, pages, root};
use std::path::Path;

#[test]
fn every_link_leads_to_a_file() {
    let mut lost = Vec::new();
    for (path, text) in pages() {
        let folder = root().join(path.parent().unwrap_or(Path::new("")));
        for line in lines(&text).iter().filter(|line| line.block.is_none()) {
            for target in targets(line) {
                let file = target.split('#').next().unwrap_or("");
                if !file.is_empty() && !folder.join(file).exists() {
                    lost.push(format!("{}:{}: {target}", path.display(), line.number));
                }
            }
        }
    }
    assert!(lost.is_empty(), "links that lead nowhere:\n{}", lost.join("\n"));
}

/// Where the links and pictures of a line lead, but for those to other sites.
fn targets<'a>(line: &Line<'a>) -> Vec<&'a str> {
    let links = line.text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let pictures = line.text.split("src=\"").skip(1).filter_map(|rest| rest.split('"').next());
    links.chain(pictures).filter(|target| !target.contains("://")).collect()
}
