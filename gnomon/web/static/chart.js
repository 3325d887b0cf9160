// Charts: values on hover and by arrow keys, the runs behind a point on click, ranges on the strip.
"use strict";
(() => {
  let chart = null;
  let at = -1;
  let tip = null;
  let from = -1;
  const SVG = "http://www.w3.org/2000/svg";
  const list = (name) => JSON.parse(chart.dataset[name] || "[]");

  function places() {
    const width = chart.viewBox.baseVal.width;
    if (chart.dataset.x) return chart.dataset.x.split(" ").map((x) => Number(x) / width);
    const count = list("read").length;
    return Array.from({ length: count }, (_, index) => (index + 0.5) / count);
  }
  function nearest(clientX) {
    const frame = chart.getBoundingClientRect();
    const share = (clientX - frame.left) / frame.width;
    const all = places();
    return all.reduce((best, place, index) => (Math.abs(place - share) < Math.abs(all[best] - share) ? index : best), 0);
  }
  function hide() {
    tip?.remove();
    document.querySelector(".cursor")?.remove();
    tip = null;
    at = -1;
  }
  function show(index) {
    const text = list("read")[index];
    if (text === undefined) return;
    const frame = chart.getBoundingClientRect();
    const view = chart.viewBox.baseVal;
    const top = Number(chart.dataset.top || 0);
    const place = places()[index];
    if (!tip) { tip = document.createElement("div"); tip.className = "tip"; document.body.append(tip); }
    tip.textContent = text;
    const x = frame.left + place * frame.width;
    const left = x + 14 + tip.offsetWidth > innerWidth ? x - 14 - tip.offsetWidth : x + 14;
    tip.style.left = `${Math.max(4, left) + scrollX}px`;
    const under = chart.hasAttribute("data-strip") ? frame.bottom + 24 : frame.top + ((top + 2) / view.height) * frame.height;
    tip.style.top = `${under + scrollY}px`;
    let cursor = chart.querySelector(".cursor");
    if (!cursor) {
      document.querySelector(".cursor")?.remove();
      cursor = document.createElementNS(SVG, "line");
      cursor.setAttribute("class", "cursor");
      cursor.setAttribute("vector-effect", "non-scaling-stroke");
      chart.append(cursor);
    }
    for (const end of ["x1", "x2"]) cursor.setAttribute(end, place * view.width);
    cursor.setAttribute("y1", top);
    cursor.setAttribute("y2", chart.dataset.bottom || view.height);
    at = index;
  }
  function drag(to) {
    const box = chart.closest(".strip-box");
    let shade = box.querySelector(".drag");
    if (!shade) { shade = document.createElement("div"); shade.className = "drag"; box.append(shade); }
    const frame = chart.getBoundingClientRect();
    const outer = box.getBoundingClientRect();
    const step = frame.width / list("read").length;
    const [low, high] = [Math.min(from, to), Math.max(from, to)];
    shade.style.left = `${frame.left - outer.left + low * step}px`;
    shade.style.width = `${(high - low + 1) * step}px`;
  }
  function range(to) {
    const { start, width, range: address } = chart.closest(".strip-box").dataset;
    const url = new URL(address, location.href);
    const moment = (index) => new Date(Number(start) + index * Number(width)).toISOString().replace(/\.\d+/, "");
    url.searchParams.delete("period");
    url.searchParams.set("since", moment(Math.min(from, to)));
    url.searchParams.set("until", moment(Math.max(from, to) + 1));
    location.assign(url);
  }
  document.addEventListener("pointermove", (event) => {
    const over = event.target.closest?.("[data-chart]");
    if (from >= 0) { const to = nearest(event.clientX); show(to); if (to !== from) drag(to); return; }
    if (over !== chart) { hide(); chart = over; }
    if (chart) { const index = nearest(event.clientX); if (index !== at) show(index); }
  });
  document.addEventListener("pointerdown", (event) => {
    const over = event.target.closest?.("[data-strip]");
    if (!over || event.button) return;
    chart = over;
    from = nearest(event.clientX);
    event.preventDefault();
  });
  document.addEventListener("pointerup", (event) => {
    if (from < 0) return;
    const to = nearest(event.clientX);
    if (to !== from) range(to); else follow(to);
    from = -1;
  });
  document.addEventListener("click", (event) => {
    const over = event.target.closest?.("[data-chart]");
    if (over && !over.hasAttribute("data-strip")) { chart = over; follow(nearest(event.clientX)); }
  });
  function follow(index) {
    const address = list("href")[index];
    if (address) location.assign(address);
  }
  document.addEventListener("chart:point", (event) => {
    if (chart !== document.activeElement) { hide(); chart = document.activeElement; }
    const last = list("read").length - 1;
    show(Math.min(last, Math.max(0, at < 0 ? (event.detail > 0 ? 0 : last) : at + event.detail)));
    document.getElementById("say").textContent = list("read")[at];
  });
  document.addEventListener("focusout", (event) => { if (event.target === chart) hide(); });
  document.addEventListener("lite:swap", hide);
})();
