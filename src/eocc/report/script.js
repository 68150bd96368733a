"use strict";
(() => {
  const drawing = document.getElementById("map-drawing");
  const canvas = drawing.parentElement;
  const tip = document.getElementById("map-tip");
  const panel = document.getElementById("panel");
  const status = document.getElementById("map-status");
  const cursor = drawing.querySelector(".cursor");
  const stored = document.getElementById("explanations").content;
  const REACH = 14; // pixels: a finger or an unsteady hand need not hit the mark itself

  const points = [...drawing.querySelectorAll(".point")].map((node) => {
    const at = node.transform.baseVal.consolidate().matrix;
    return { node, x: at.e, y: at.f };
  });
  const byKey = new Map(points.map((point) => [point.node.dataset.key, point]));
  const first = byKey.get(drawing.dataset.first) || points[0];
  const box = drawing.viewBox.baseVal;
  const whole = { x: box.x, y: box.y, w: box.width, h: box.height };
  let view = { ...whole };
  let focused = null;

  const visible = (point) => getComputedStyle(point.node).display !== "none";
  const unitsPerPixel = () => view.w / (drawing.clientWidth || view.w);

  function look(next) {
    const w = Math.min(Math.max(next.w, whole.w / 200), whole.w);
    const h = (w * whole.h) / whole.w;
    const keep = (value, low, high) => Math.min(Math.max(value, low), Math.max(low, high));
    view = {
      x: keep(next.x + (next.w - w) / 2, whole.x, whole.x + whole.w - w),
      y: keep(next.y + (next.h - h) / 2, whole.y, whole.y + whole.h - h), w, h,
    };
    drawing.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`);
    resize();
  }

  // Marks keep their size on the screen, however close the map is.
  function resize() {
    const size = Math.min(Math.max(drawing.clientWidth / 700, 0.55), 1); // smaller on a small screen, where all is closer
    drawing.style.setProperty("--mark", size * unitsPerPixel());
    cursor.setAttribute("r", 11 * unitsPerPixel());
  }

  function zoom(factor, x = view.x + view.w / 2, y = view.y + view.h / 2) {
    look({ x: x - (x - view.x) * factor, y: y - (y - view.y) * factor, w: view.w * factor, h: view.h * factor });
  }

  function zoomToTraining() {
    const [ax, ay, bx, by] = drawing.dataset.training.split(" ").map(Number);
    const w = 1.15 * Math.max(Math.abs(bx - ax), (Math.abs(by - ay) * whole.w) / whole.h, whole.w / 200);
    const h = (w * whole.h) / whole.w;
    look({ x: (ax + bx - w) / 2, y: (ay + by - h) / 2, w, h });
  }

  function place(event) {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(drawing.getScreenCTM().inverse());
    return { x: at.x, y: at.y };
  }

  function nearest(at) {
    let found = null;
    let least = (REACH * unitsPerPixel()) ** 2;
    for (const point of points) {
      const gap = (point.x - at.x) ** 2 + (point.y - at.y) ** 2;
      if (gap <= least && visible(point)) { found = point; least = gap; }
    }
    return found;
  }

  function showTip(point) {
    tip.textContent = point.node.getAttribute("aria-label");
    tip.hidden = false;
    const at = new DOMPoint(point.x, point.y).matrixTransform(drawing.getScreenCTM());
    const frame = canvas.getBoundingClientRect();
    const x = at.x - frame.left, y = at.y - frame.top;
    const left = x + 16 + tip.offsetWidth > canvas.clientWidth ? Math.max(x - 16 - tip.offsetWidth, 0) : x + 16;
    const top = Math.max(Math.min(y + 12, canvas.clientHeight - tip.offsetHeight), 0);
    tip.style.left = `${left}px`;
    tip.style.top = `${top}px`;
  }

  function hideTip() { tip.hidden = true; }

  function element(name, text) {
    const made = document.createElement(name);
    made.textContent = text;
    return made;
  }

  function contents(point) {
    const id = `explained-${point.node.dataset.key}`;
    const source = stored.getElementById(id) || document.getElementById(id);
    if (source) {
      const copy = source.cloneNode(true);
      copy.removeAttribute("id");
      return copy;
    }
    const made = document.createElement("article");
    const [title, ...lines] = point.node.getAttribute("aria-label").split("\n");
    made.append(element("h3", title), ...lines.map((line) => element("p", line)));
    const note = element("p", "This page has a full explanation of the most unusual rows and of the prototypes of the regions only.");
    note.className = "note";
    made.append(note);
    return made;
  }

  function open(point, origin) {
    const shown = contents(point);
    const back = element("button", origin === point.node ? "Back to the map" : "Back to the table");
    back.type = "button";
    back.className = "back";
    back.addEventListener("click", () => origin.focus());
    panel.replaceChildren(shown, back);
    panel.scrollTop = 0;
    mark(point);
    status.textContent = `Explanation shown: ${shown.querySelector("h3").textContent}`;
  }

  function mark(point) {
    cursor.setAttribute("cx", point.x);
    cursor.setAttribute("cy", point.y);
    cursor.classList.add("on");
  }

  function become(point) { // one mark at a time is a stop of the Tab key
    if (focused) focused.node.setAttribute("tabindex", "-1");
    focused = point;
    point.node.setAttribute("tabindex", "0");
  }

  function bringIntoView(point) {
    const inside = point.x >= view.x && point.x <= view.x + view.w && point.y >= view.y && point.y <= view.y + view.h;
    if (!inside) look({ ...view, x: point.x - view.w / 2, y: point.y - view.h / 2 });
  }

  function goTo(point) {
    bringIntoView(point);
    become(point);
    point.node.focus({ preventScroll: true });
    drawing.scrollIntoView({ block: "nearest" });
  }

  // The nearest mark ahead; what lies aside counts double, so that a row of marks is walked in order.
  function ahead(from, dx, dy) {
    let found = null;
    let least = Infinity;
    for (const point of points) {
      const along = (point.x - from.x) * dx + (point.y - from.y) * dy;
      const aside = Math.abs((point.x - from.x) * dy) + Math.abs((point.y - from.y) * dx);
      const cost = along + 2 * aside;
      if (along > 0 && cost < least && point !== from && visible(point)) { found = point; least = cost; }
    }
    return found;
  }

  const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  drawing.addEventListener("keydown", (event) => {
    if (!focused || event.altKey || event.ctrlKey || event.metaKey) return;
    let target = null;
    if (event.key in WAYS) target = ahead(focused, ...WAYS[event.key]);
    else if (event.key === "Home") target = first;
    else if (event.key === "Enter" || event.key === " ") {
      open(focused, focused.node);
      panel.focus();
    } else if (event.key === "Escape") hideTip();
    else if (event.key === "+" || event.key === "=") zoom(1 / 1.5, focused.x, focused.y);
    else if (event.key === "-") zoom(1.5, focused.x, focused.y);
    else return;
    event.preventDefault();
    if (target) goTo(target);
  });

  // Not on the drawing itself: a listener for focus would make it, too, a stop of the Tab key.
  canvas.addEventListener("focusin", (event) => {
    const point = byKey.get(event.target.dataset.key);
    if (!point) return;
    become(point);
    mark(point);
    showTip(point);
  });
  canvas.addEventListener("focusout", hideTip);

  let held = null;
  let moved = false;
  drawing.addEventListener("pointerdown", (event) => {
    held = { x: event.clientX, y: event.clientY, view: { ...view } };
    moved = false;
  });
  addEventListener("pointermove", (event) => {
    if (!held || !(event.buttons & 1)) return;
    const dx = event.clientX - held.x, dy = event.clientY - held.y;
    if (!moved && Math.hypot(dx, dy) < 4) return;
    moved = true;
    drawing.classList.add("moving");
    hideTip();
    look({ ...held.view, x: held.view.x - dx * unitsPerPixel(), y: held.view.y - dy * unitsPerPixel() });
  });
  addEventListener("pointerup", () => { held = null; drawing.classList.remove("moving"); });
  drawing.addEventListener("pointermove", (event) => {
    if (moved && held) return;
    const point = nearest(place(event));
    if (point) showTip(point); else hideTip();
  });
  drawing.addEventListener("pointerleave", hideTip);
  drawing.addEventListener("click", (event) => {
    if (moved) return;
    const point = nearest(place(event));
    if (!point) return;
    goTo(point);
    open(point, point.node);
  });
  drawing.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return; // the wheel alone scrolls the page
    event.preventDefault();
    const at = place(event);
    zoom(event.deltaY < 0 ? 1 / 1.25 : 1.25, at.x, at.y);
  }, { passive: false });

  panel.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { const back = panel.querySelector(".back"); if (back) back.click(); }
  });

  const ZOOMS = { in: () => zoom(1 / 1.5), out: () => zoom(1.5), training: zoomToTraining, all: () => look(whole) };
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", ZOOMS[button.dataset.zoom]);
  }
  for (const chosen of document.querySelectorAll("[data-show]")) {
    const apply = () => {
      drawing.classList.toggle(`without-${chosen.dataset.show}`, !chosen.checked);
      if (focused && !visible(focused)) { const other = points.find(visible); if (other) become(other); }
    };
    chosen.addEventListener("change", apply);
    apply(); // a browser may restore boxes on reload
  }
  for (const button of document.querySelectorAll("[data-open]")) {
    button.addEventListener("click", () => {
      const point = byKey.get(button.dataset.open);
      if (!point) return;
      bringIntoView(point);
      open(point, button);
      panel.focus({ preventScroll: true });
      document.getElementById("map").scrollIntoView();
    });
  }
  const find = document.getElementById("map-find");
  const found = document.getElementById("map-found");
  const byRank = [...points].reverse(); // new rows first, the most unusual of them first
  const search = { wanted: "", turn: 0 };

  function rowsCalled(wanted) {
    const exact = byRank.filter((point) => point.node.dataset.name === wanted);
    const part = wanted.toLowerCase();
    return exact.length || !part ? exact : byRank.filter((point) => point.node.dataset.name.toLowerCase().includes(part));
  }

  find.addEventListener("keydown", (event) => { // Enter again shows the next row of the same name
    if (event.key !== "Enter") return;
    const wanted = find.value.trim();
    const rows = rowsCalled(wanted);
    search.turn = wanted === search.wanted && rows.length ? (search.turn + 1) % rows.length : 0;
    search.wanted = wanted;
    if (rows.length) { bringIntoView(rows[search.turn]); open(rows[search.turn], find); }
    found.textContent = rows.length ? `${search.turn + 1} of ${rows.length}` : `No row on the map has the name ${wanted}`;
    find.setAttribute("aria-invalid", rows.length ? "false" : "true");
  });

  if (first) become(first);
  addEventListener("resize", resize);
  new ResizeObserver(resize).observe(drawing);
  resize();
})();
