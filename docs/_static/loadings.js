// A vector along a path of the penalty, as bars with a slider.
// A page holds <div class="moving-loadings" data-path='{"names": […], "points": [{"rho", "k", "share", "x"}, …]}'></div>.
"use strict";

(() => {
  const HEIGHT = 22; // of one bar's row
  const [LEFT, WIDTH, MIDDLE] = [92, 440, 266];

  function make(place, name, attributes, words = "") {
    const svg = place instanceof SVGElement || name === "svg";
    const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.textContent = words;
    place.append(element);
    return element;
  }

  function mount(root) {
    const { names, points } = JSON.parse(root.dataset.path);
    const words = make(root, "p", { class: "status", "aria-live": "polite" });
    const picture = make(root, "svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT * names.length + 26}`, role: "img" });
    const scale = WIDTH - MIDDLE - 8; // of a loading of size one
    const bars = names.map((name, i) => {
      make(picture, "text", { x: LEFT - 8, y: HEIGHT * (i + 0.7), "text-anchor": "end" }, name);
      return make(picture, "rect", { class: "bar", y: HEIGHT * (i + 0.15), height: HEIGHT * 0.7 });
    });
    make(picture, "path", { class: "zero", d: `M${MIDDLE},0 V${HEIGHT * names.length}` });
    for (const tick of [-1, -0.5, 0, 0.5, 1]) {
      const place = { x: MIDDLE + scale * tick, y: HEIGHT * names.length + 18, "text-anchor": "middle" };
      make(picture, "text", place, String(tick).replace("-", "−"));
    }
    const label = make(root, "label", {});
    make(label, "span", {}, "ρ̃ (rho)");
    const slider = make(label, "input", { type: "range", min: 0, max: points.length - 1, value: 0, "aria-label": "rho" });
    const output = make(label, "output", {});

    function draw() {
      const { rho, k, share, x } = points[Number(slider.value)];
      bars.forEach((bar, i) => {
        bar.setAttribute("x", MIDDLE + scale * Math.min(0, x[i]));
        bar.setAttribute("width", scale * Math.abs(x[i]));
      });
      output.textContent = rho;
      slider.setAttribute("aria-valuetext", rho);
      words.textContent = `${k} nonzero${k === 1 ? "" : "s"}, xᵀAx is ${(100 * share).toFixed(1)} % of λmax`;
      picture.setAttribute("aria-label", words.textContent);
    }
    slider.addEventListener("input", draw);
    draw();
  }

  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll(".moving-loadings").forEach(mount));
})();
