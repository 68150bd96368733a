"use strict";
(() => {
  const { DECISIONS, $, data, detail, isWrong, make, ordered, said, svg, unfold } = page;
  const STEP = 15; // rows of the list that each click on "more" adds
  const REACH = 14; // pixels: a finger or an unsteady hand need not hit the mark itself

  data.rows.forEach((row, number) => {
    row.number = number;
    if (!row.why && row.values) {
      const [first] = ordered(row);
      if (first.far) row.main = first.column.name;
      if (first.far) row.why = `${first.column.name} is ${said(first.value)}; 95% of normal rows have ${first.column.usual}`;
    }
    row.text = [row.name, DECISIONS[row.decision], row.why, row.words].join("\n").toLowerCase();
  });

  // ---- the list

  const list = $("list"), body = list.tBodies[0], find = $("find"), more = $("more");
  const shown = { by: "out", down: true, limit: STEP, open: new Set(), main: null };
  const keys = { name: (row) => row.name, decision: (row) => row.decision, out: (row) => Number(row.out), p: (row) => Number(row.p), why: (row) => row.why || "" };
  const named = new Intl.Collator(undefined, { numeric: true });

  function chosen() {
    const kind = document.querySelector("input[name=kind]:checked").value, wanted = find.value.trim().toLowerCase();
    const keeps = { all: () => true, rejected: (row) => row.rejected, discoveries: (row) => row.decision === 2, wrong: isWrong }[kind];
    const value = keys[shown.by], sign = shown.down ? -1 : 1;
    const isMain = (row) => shown.main == null || (row.rejected && row.main === shown.main);
    return data.rows.filter((row) => keeps(row) && isMain(row) && row.text.includes(wanted)).sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      return sign * (typeof x === "string" ? named.compare(x, y) : x - y) || a.number - b.number;
    });
  }

  function line(row) {
    const open = shown.open.has(row);
    const opener = make("button", { type: "button", class: "link", "aria-expanded": open, "data-row": row.number }, row.name);
    const wrong = isWrong(row) ? make("span", { class: "note" }, " wrong") : null;
    const made = make("tr", { class: open ? "open" : null }, make("th", { scope: "row" }, opener),
      make("td", {}, make("span", { class: `chip ${DECISIONS[row.decision]}` }, DECISIONS[row.decision]), wrong),
      make("td", { class: "ratio" }, row.out),
      ...(data.has_p ? [make("td", { class: "p" }, row.p)] : []), make("td", { class: "why" }, row.why || ""));
    made.addEventListener("click", () => toggle(row, made));
    return made;
  }

  function toggle(row, made) {
    const was = shown.open.delete(row);
    made.classList.toggle("open", !was);
    made.querySelector("button").setAttribute("aria-expanded", !was);
    if (was) made.nextElementSibling.remove();
    else { shown.open.add(row); made.after(opened(row)); select(marks.get(row)); }
  }

  function opened(row) {
    const onMap = make("button", { type: "button", class: "screen-only" }, "Show on the map");
    onMap.addEventListener("click", () => { explain(marks.get(row)); $("map").scrollIntoView(); marks.get(row).node.focus({ preventScroll: true }); });
    const link = make("a", { href: `#row=${encodeURIComponent(row.name)}`, class: "screen-only" }, "Link to this row");
    return make("tr", { class: "opened" }, make("td", { colspan: list.tHead.rows[0].cells.length }, detail(row), onMap, " ", link));
  }

  function draw() {
    const rows = chosen(), some = rows.slice(0, shown.limit);
    body.replaceChildren(...some.flatMap((row) => (shown.open.has(row) ? [line(row), opened(row)] : [line(row)])));
    more.hidden = rows.length <= shown.limit;
    $("found").textContent = `${some.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")} rows shown`;
    for (const head of list.tHead.querySelectorAll("th")) {
      const by = head.firstElementChild.dataset.sort;
      head.setAttribute("aria-sort", by !== shown.by ? "none" : shown.down ? "descending" : "ascending");
    }
  }

  // One button for each column that is the main reason of rejected rows, the commonest first.
  const counts = new Map();
  for (const row of data.rows) if (row.rejected && row.main) counts.set(row.main, (counts.get(row.main) || 0) + 1);
  const mains = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 6).map(([name, count]) => {
    const made = make("button", { type: "button", "aria-pressed": false }, `${name} (${count})`);
    made.addEventListener("click", () => {
      shown.main = shown.main === name ? null : name;
      for (const one of mains) one.setAttribute("aria-pressed", one === made && shown.main != null);
      again();
    });
    return made;
  });
  if (mains.length) $("mains").append("Rejected because of", ...mains);

  for (const head of list.tHead.querySelectorAll("button")) {
    head.addEventListener("click", () => {
      const by = head.dataset.sort;
      shown.down = by === shown.by ? !shown.down : by === "out" || by === "decision";
      shown.by = by;
      draw();
    });
  }
  const again = () => { shown.limit = STEP; draw(); };
  for (const kind of document.querySelectorAll("input[name=kind]")) kind.addEventListener("change", again);
  find.addEventListener("input", again);
  more.addEventListener("click", () => {
    const first = shown.limit;
    shown.limit += 50;
    draw();
    body.querySelectorAll("button.link")[first]?.focus();
  });

  // ---- the map

  const drawing = $("drawing"), canvas = drawing.parentElement, tip = $("tip"), panel = $("panel");
  const WIDTH = 900, MARGIN = 26;
  const SHAPES = {
    training: "M-3.4 0a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0-6.8 0z",
    accepted: "M-1.7-6.4h3.4v4.7h4.7v3.4h-4.7v4.7h-3.4v-4.7h-4.7v-3.4h4.7z",
    discovery: "M0-6.6l6.6 6.6l-6.6 6.6l-6.6-6.6z",
    rejected: "M-5.7-3.3l2.4-2.4L0-2.4l3.3-3.3l2.4 2.4L2.4 0l3.3 3.3l-2.4 2.4L0 2.4l-3.3 3.3l-2.4-2.4L-2.4 0z",
  };
  const points = [], marks = new Map();
  let view, whole, selected = null, focused = null;

  function chart() {
    const all = [...data.training.map((one) => one.at), ...data.rows.map((row) => row.at)];
    const [xs, ys] = [0, 1].map((k) => all.map((at) => at[k]));
    const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const height = WIDTH * Math.min(Math.max((high - low) / (right - left || 1), 0.45), 0.7);
    const scale = Math.min((WIDTH - 2 * MARGIN) / (right - left || 1), (height - 2 * MARGIN) / (high - low || 1));
    const place = ([x, y]) => [WIDTH / 2 + scale * (x - (left + right) / 2), height / 2 - scale * (y - (low + high) / 2)];
    whole = { x: 0, y: 0, w: WIDTH, h: height };
    const [cx, cy] = place([0, 0]);
    drawing.append(svg("circle", { class: "scale", cx, cy, r: scale }));
    const ends = data.tree.map((at) => place(at).map((number) => number.toFixed(1)).join(" "));
    drawing.append(svg("path", { class: "tree", d: ends.map((at, k) => (k % 2 ? "L" : "M") + at).join("") }));
    const add = (at, look, shape, row, label) => {
      const [x, y] = place(at);
      const node = svg("g", { class: `point ${look}`, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`, tabindex: "-1", role: "button", "aria-label": label },
        svg("path", { class: "mark", d: SHAPES[shape] }));
      const point = { node, x, y, row, label };
      points.push(point);
      if (row) marks.set(row, point);
      return node;
    };
    const region = (one) => (one.region == null ? "" : `, region ${one.region}`);
    drawing.append(...data.training.map((one) => add(one.at, `training region-${(one.region ?? 0) % 8}`, "training", null, `Training row ${one.name}${region(one)}`)));
    drawing.append(...[...data.rows].reverse().map((row) => { // the most unusual lie on top
      const kind = DECISIONS[row.decision], p = data.has_p ? `, p-value ${row.p}` : `, how far out ${row.out}`;
      const look = data.is_new || row.decision ? kind : `training accepted region-${(row.region ?? 0) % 8}`;
      return add(row.at, look, data.is_new || row.decision ? kind : "training", row, `${row.name}: ${kind}${p}${data.is_new ? "" : region(row)}\n${row.why || row.words || ""}`.trim());
    }));
    drawing.append(svg("circle", { class: "cursor", r: 11 }));
    look(whole);
    become(marks.get(data.rows[0]));
  }

  const visible = (point) => getComputedStyle(point.node).display !== "none";
  const unit = () => view.w / (drawing.clientWidth || view.w); // of the map per pixel

  function look(next) {
    const w = Math.min(Math.max(next.w, whole.w / 200), whole.w), h = (w * whole.h) / whole.w;
    const keep = (value, most) => Math.min(Math.max(value, 0), Math.max(0, most));
    view = { x: keep(next.x + (next.w - w) / 2, whole.w - w), y: keep(next.y + (next.h - h) / 2, whole.h - h), w, h };
    drawing.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`);
    resize();
  }

  function resize() { // marks keep their size on the screen, however close the map is
    drawing.style.setProperty("--mark", Math.min(Math.max(drawing.clientWidth / 700, 0.6), 1) * unit());
    drawing.querySelector(".cursor").setAttribute("r", 11 * unit());
  }

  function zoom(factor, at = selected || { x: view.x + view.w / 2, y: view.y + view.h / 2 }) {
    look({ x: at.x - (at.x - view.x) * factor, y: at.y - (at.y - view.y) * factor, w: view.w * factor, h: view.h * factor });
  }

  function bringIntoView(point) {
    const edge = 0.05 * view.w;
    const inside = point.x > view.x + edge && point.x < view.x + view.w - edge && point.y > view.y + edge && point.y < view.y + view.h - edge;
    if (!inside) look({ ...view, x: point.x - view.w / 2, y: point.y - view.h / 2 });
  }

  function place(event) {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(drawing.getScreenCTM().inverse());
    return { x: at.x, y: at.y };
  }

  function nearest(at) {
    let found = null, least = (REACH * unit()) ** 2;
    for (const point of points) {
      const gap = (point.x - at.x) ** 2 + (point.y - at.y) ** 2;
      if (gap <= least && visible(point)) { found = point; least = gap; }
    }
    return found;
  }

  function showTip(point) {
    tip.textContent = point.label;
    tip.hidden = false;
    const at = new DOMPoint(point.x, point.y).matrixTransform(drawing.getScreenCTM()), frame = canvas.getBoundingClientRect();
    const x = at.x - frame.left, y = at.y - frame.top;
    tip.style.left = `${x + 16 + tip.offsetWidth > canvas.clientWidth ? Math.max(x - 16 - tip.offsetWidth, 0) : x + 16}px`;
    tip.style.top = `${Math.max(Math.min(y + 12, canvas.clientHeight - tip.offsetHeight), 0)}px`;
  }
  const hideTip = () => { tip.hidden = true; };

  function become(point) { // one mark at a time is a stop of the Tab key
    if (focused) focused.node.setAttribute("tabindex", "-1");
    focused = point;
    point.node.setAttribute("tabindex", "0");
  }

  function select(point) {
    selected = point;
    bringIntoView(point);
    become(point);
    const cursor = drawing.querySelector(".cursor");
    cursor.setAttribute("cx", point.x);
    cursor.setAttribute("cy", point.y);
    cursor.classList.add("on");
  }

  function explain(point) {
    select(point);
    const title = make("h3", {}, point.row ? point.row.name : point.label);
    panel.replaceChildren(title, point.row ? detail(point.row) : make("p", {}, "The list above explains the rows that were scored."));
    panel.scrollTop = 0;
  }

  // The nearest mark ahead; what lies aside counts double, so that a row of marks is walked in order.
  function ahead(from, dx, dy) {
    let found = null, least = Infinity;
    for (const point of points) {
      const along = (point.x - from.x) * dx + (point.y - from.y) * dy;
      const cost = along + 2 * (Math.abs((point.x - from.x) * dy) + Math.abs((point.y - from.y) * dx));
      if (along > 0 && cost < least && visible(point)) { found = point; least = cost; }
    }
    return found;
  }

  const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  drawing.addEventListener("keydown", (event) => {
    if (!focused || event.altKey || event.ctrlKey || event.metaKey) return;
    let target = null;
    if (event.key in WAYS) target = ahead(focused, ...WAYS[event.key]);
    else if (event.key === "Home") target = marks.get(data.rows[0]);
    else if (event.key === "Enter" || event.key === " ") { explain(focused); panel.focus(); }
    else if (event.key === "Escape") hideTip();
    else if (event.key === "+" || event.key === "=") zoom(1 / 1.5, focused);
    else if (event.key === "-") zoom(1.5, focused);
    else return;
    event.preventDefault();
    if (target) { select(target); target.node.focus({ preventScroll: true }); }
  });
  panel.addEventListener("keydown", (event) => { if (event.key === "Escape") focused.node.focus(); });
  // Not on the drawing itself: a listener for focus would make it, too, a stop of the Tab key.
  canvas.addEventListener("focusin", (event) => {
    const point = points.find((one) => one.node === event.target);
    if (point) { select(point); showTip(point); }
  });
  canvas.addEventListener("focusout", hideTip);

  let held = null, moved = false;
  drawing.addEventListener("pointerdown", (event) => {
    held = { x: event.clientX, y: event.clientY, view: { ...view } };
    moved = false;
  });
  addEventListener("pointermove", (event) => {
    if (!held || !(event.buttons & 1)) return;
    const dx = event.clientX - held.x, dy = event.clientY - held.y;
    if (!moved && Math.hypot(dx, dy) < 4) return;
    moved = true;
    hideTip();
    look({ ...held.view, x: held.view.x - dx * unit(), y: held.view.y - dy * unit() });
  });
  addEventListener("pointerup", () => { held = null; });
  drawing.addEventListener("pointermove", (event) => {
    if (moved && held) return;
    const point = nearest(place(event));
    if (point) showTip(point); else hideTip();
  });
  drawing.addEventListener("pointerleave", hideTip);
  drawing.addEventListener("click", (event) => {
    const point = moved ? null : nearest(place(event));
    if (point) { explain(point); point.node.focus({ preventScroll: true }); }
  });
  drawing.addEventListener("dblclick", (event) => zoom(event.shiftKey ? 2 : 1 / 2, place(event)));
  drawing.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return; // the wheel alone scrolls the page
    event.preventDefault();
    zoom(event.deltaY < 0 ? 1 / 1.25 : 1.25, place(event));
  }, { passive: false });
  const ZOOMS = { in: () => zoom(1 / 1.5), out: () => zoom(1.5), all: () => look(whole) };
  for (const button of document.querySelectorAll("[data-zoom]")) button.addEventListener("click", ZOOMS[button.dataset.zoom]);
  for (const box of document.querySelectorAll("[data-show]")) {
    const apply = () => {
      drawing.classList.toggle(`without-${box.dataset.show}`, !box.checked);
      if (focused && !visible(focused)) become(points.find(visible) || focused);
    };
    box.addEventListener("change", apply);
    addEventListener("load", apply); // a browser may restore boxes on reload
  }

  // A link to a row, #row=name, opens it in the list.
  function follow() {
    const name = location.hash.startsWith("#row=") ? decodeURIComponent(location.hash.slice(5)) : null;
    const row = data.rows.find((one) => one.name === name);
    if (!row) return;
    document.querySelector("input[name=kind][value=all]").checked = true;
    [find.value, shown.main] = ["", null];
    shown.limit = Math.max(shown.limit, chosen().indexOf(row) + 1);
    shown.open.add(row);
    draw();
    const opener = body.querySelector(`[data-row="${row.number}"]`);
    opener.closest("tr").scrollIntoView();
    opener.focus({ preventScroll: true });
  }
  addEventListener("hashchange", follow);

  let before = null; // what the list showed before it was printed
  addEventListener("beforeprint", () => {
    before = shown.limit;
    shown.limit = Math.max(before, data.rows.filter((row) => row.decision).length);
    draw();
    unfold();
  });
  addEventListener("afterprint", () => { shown.limit = before; draw(); });

  for (const row of data.rows.slice(0, 3)) if (row.decision) shown.open.add(row);
  draw();
  chart();
  follow();
  new ResizeObserver(resize).observe(drawing);
  performance.mark("ready");
})();
