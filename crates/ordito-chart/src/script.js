"use strict";
// Sorts and filters the table of all results, hides series of a chart, and shows what is pointed at. Without it the page
// says the same.
(() => {
  const table = document.getElementById("results");
  if (table) {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const shown = document.getElementById("shown");
    const filter = document.getElementById("filter");
    const cellValue = (row, column) => {
      const cell = row.cells[column];
      const text = cell.textContent.trim();
      const number = cell.dataset.value !== undefined ? Number(cell.dataset.value) : parseFloat(text.replace(/\s/g, ""));
      return { text, number: text === "" ? NaN : number };
    };
    // Numbers by size, the rest by letters; what is missing comes last, whichever way.
    const compare = (a, b, direction) => {
      const numbers = [a.number, b.number].filter((number) => !Number.isNaN(number)).length;
      if (numbers === 2) return direction * (a.number - b.number);
      if (a.text === "" || b.text === "") return (a.text === "") - (b.text === "");
      return direction * a.text.localeCompare(b.text, "en", { numeric: true });
    };
    [...table.tHead.rows[0].cells].forEach((title, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = title.textContent;
      title.replaceChildren(button);
      title.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const ascending = title.getAttribute("aria-sort") !== "ascending";
        for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
        title.setAttribute("aria-sort", ascending ? "ascending" : "descending");
        const keyed = rows.map((row) => [cellValue(row, column), row]);
        keyed.sort(([a], [b]) => compare(a, b, ascending ? 1 : -1));
        body.append(...keyed.map(([, row]) => row));
      });
    });
    const apply = () => {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      let count = 0;
      for (const row of rows) {
        const text = [...row.cells].map((cell) => cell.textContent).join(" ").toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        count += row.hidden ? 0 : 1;
      }
      shown.textContent = words.length === 0 ? "" : `${count} of ${rows.length}`;
    };
    filter.addEventListener("input", apply);
    apply(); // browsers keep what was typed before a reload
  }

  for (const chart of document.querySelectorAll("figure.chart")) {
    for (const button of chart.querySelectorAll(".legend button")) {
      button.addEventListener("click", () => {
        const on = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(on));
        for (const part of chart.querySelectorAll(`.picture g.series[data-series="${button.dataset.series}"]`)) {
          part.classList.toggle("off", !on);
        }
      });
    }
  }

  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);
  // The browser would show its own as well, later.
  for (const title of document.querySelectorAll("figure.chart .point title")) {
    title.parentElement.dataset.text = title.textContent;
    title.remove();
  }
  const pointed = (event) => {
    const mark = event.target.closest && event.target.closest("figure.chart .point");
    const text = mark && mark.dataset.text;
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    const left = Math.min(event.clientX + 14, document.documentElement.clientWidth - tip.offsetWidth - 4);
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${event.clientY + 18}px`;
  };
  document.addEventListener("pointermove", pointed);
  document.addEventListener("pointerdown", pointed);
})();
