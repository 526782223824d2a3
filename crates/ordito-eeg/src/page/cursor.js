
// The cursor: moving the pointer over a plot, or the slider, shows one time everywhere.
(() => {
  const panel = document.getElementById("cursor");
  if (!panel) return;
  const floats = (text) => new Float32Array(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
  const times = floats(panel.dataset.times);
  const values = floats(panel.dataset.values);
  const slider = document.getElementById("cursor-slider");
  const said = document.getElementById("cursor-time");
  const rows = [...document.getElementById("cursor-values").tBodies[0].rows];
  if (times.length === 0) return;

  // About three significant digits, as in the tables; with an exponent where the text would be long or all zeros.
  const legible = (value) => {
    const size = Math.abs(value);
    if (!Number.isFinite(value)) return "–";
    if (size !== 0 && (size < 0.0005 || size >= 999999.5)) return value.toExponential(1).replace("+", "");
    return value.toFixed(size >= 99.95 || size === 0 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3);
  };
  const number = (element, name) => Number(element.getAttribute(name));
  const areas = [...document.querySelectorAll("figure.chart .picture rect.area")].map((area) => {
    const line = document.createElementNS(area.namespaceURI, "line");
    line.setAttribute("class", "cursor-line");
    const [left, top, width, height] = ["x", "y", "width", "height"].map((name) => number(area, name));
    line.setAttribute("y1", top);
    line.setAttribute("y2", top + height);
    area.ownerSVGElement.append(line);
    return { svg: area.ownerSVGElement, line, left, top, width, height, from: Number(area.dataset.from), to: Number(area.dataset.to) };
  });

  const map = document.getElementById("cursor-map");
  let paint = () => {};
  if (map) {
    const waves = floats(map.dataset.waves);
    const inside = floats(map.dataset.inside);
    const weights = floats(map.dataset.weights);
    const sensors = waves.length / times.length;
    const side = map.width;
    // One scale for all times, so that they can be compared.
    const most = waves.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0) || 1;
    document.getElementById("cursor-most").textContent = most.toPrecision(3);
    const context = map.getContext("2d");
    const colour = (name) => {
      const text = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
      return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
    };
    paint = (sample) => {
      const [above, below] = [colour("--s1"), colour("--s0")];
      const image = context.createImageData(side, side);
      inside.forEach((cell, index) => {
        let value = 0;
        for (let sensor = 0; sensor < sensors; sensor += 1) {
          value += weights[index * sensors + sensor] * waves[sensor * times.length + sample];
        }
        image.data.set([...(value > 0 ? above : below), 255 * Math.min(1, Math.abs(value) / most)], 4 * cell);
      });
      context.putImageData(image, 0, 0);
    };
  }

  const show = () => {
    const sample = Number(slider.value);
    const time = times[sample];
    const text = `${time.toFixed(1)} ms`;
    said.textContent = text;
    slider.setAttribute("aria-valuetext", text);
    for (const area of areas) {
      const at = area.left + (area.width * (time - area.from)) / (area.to - area.from);
      area.line.setAttribute("x1", at);
      area.line.setAttribute("x2", at);
    }
    rows.forEach((row, sensor) => {
      for (let wave = 0; wave + 1 < row.cells.length; wave += 1) {
        const value = values[(wave * rows.length + sensor) * times.length + sample];
        row.cells[wave + 1].textContent = legible(value).replaceAll("-", "−");
      }
    });
    paint(sample);
  };

  let waiting = false;
  const moveTo = (sample) => {
    if (Number(slider.value) === sample) return;
    slider.value = sample;
    if (waiting) return;
    waiting = true; // as often as the screen is drawn is enough
    requestAnimationFrame(() => {
      waiting = false;
      show();
    });
  };
  const pointed = (event) => {
    const svg = event.currentTarget;
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const holds = (area) =>
      area.svg === svg && x >= area.left && x <= area.left + area.width && y >= area.top && y <= area.top + area.height;
    const area = areas.find(holds);
    if (!area) return;
    const time = area.from + ((x - area.left) / area.width) * (area.to - area.from);
    let nearest = 0;
    times.forEach((other, sample) => {
      if (Math.abs(other - time) < Math.abs(times[nearest] - time)) nearest = sample;
    });
    moveTo(nearest);
  };
  for (const svg of new Set(areas.map((area) => area.svg))) {
    svg.addEventListener("pointermove", pointed);
    svg.addEventListener("pointerdown", pointed);
  }
  slider.addEventListener("input", show);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);

  // On a small screen the plots come first.
  panel.querySelector("details").open = innerWidth >= 800;
  panel.hidden = false;
  document.body.classList.add("with-cursor");
  show();
})();
