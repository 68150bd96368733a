"use strict";
const page = (() => { // how a row is shown, for every page that shows one
  const data = JSON.parse(document.getElementById("page-data").textContent);
  const DECISIONS = ["accepted", "unsure", "rejected"];
  const $ = (id) => document.getElementById(id);

  function fill(made, attributes, children) {
    for (const [key, value] of Object.entries(attributes)) if (value != null) made.setAttribute(key, value);
    made.append(...children.filter((child) => child != null));
    return made;
  }
  const make = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);
  const svg = (name, attributes = {}, ...children) =>
    fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
  const short = (number, digits = 3) => String(Number(number.toPrecision(digits)));
  const range = (low, high) => (low === high ? `always ${low}` : `${short(low, 4)} to ${short(high, 4)}`);
  const said = (value) => (value == null ? "missing" : String(value));
  const isWrong = (row) => row.label != null && (row.decision !== 2) !== row.label;

  // How far a value lies outside the normal range, in widths of the range; 0 inside.
  function outside(column, value) {
    if (value == null) return 0;
    if (column.shares || typeof value !== "number") return column.shares && value in column.shares ? 0 : 1;
    return Math.max(column.low - value, value - column.high, 0) / (column.high - column.low || Math.abs(column.high) || 1);
  }

  function normal(column) {
    if (!column.shares) return range(column.low, column.high);
    const [first] = Object.entries(column.shares);
    return first ? `most often ${first[0]} (${Math.round(100 * first[1])}%)` : "always missing";
  }

  // The columns in the order of importance: those the explanation names, then those farthest outside.
  function ordered(row) {
    const rank = new Map((row.reasons || []).map((reason, k) => [reason.name, k]));
    return data.columns.map((column, k) => ({ column, value: row.values[k], k, far: outside(column, row.values[k]) }))
      .sort((a, b) => (rank.get(a.column.name) ?? 1e6) - (rank.get(b.column.name) ?? 1e6) || b.far - a.far || a.k - b.k);
  }

  // ---- one row, opened

  function bar({ column, value }, reason) {
    const place = make("div", { class: "track", "aria-hidden": "true" });
    if (column.counts && typeof value === "number") {
      const near = reason && typeof reason.low === "number" ? [reason.low, reason.high] : [];
      let [low, high] = [Math.min(column.ends[0], ...near), Math.max(column.ends[1], ...near)];
      const wide = high - low || 1, room = 1.5 * wide;
      const shown = Math.min(Math.max(value, low - room), high + room);
      [low, high] = [Math.min(low, shown) - 0.03 * wide, Math.max(high, shown) + 0.03 * wide];
      const at = (number) => (100 * (number - low)) / (high - low);
      const put = (look, from, to) => {
        const made = make("i", { class: look });
        made.style.left = `${at(from)}%`;
        if (to != null) made.style.width = `${at(to) - at(from)}%`;
        place.append(made);
      };
      const top = Math.max(...column.counts), step = (column.ends[1] - column.ends[0]) / column.counts.length;
      const path = column.counts.map((count, k) => {
        const [x, y] = [at(column.ends[0] + k * step), at(column.ends[0] + (k + 1) * step)];
        return count ? `M${x.toFixed(1)} 20v${(-18 * count / top).toFixed(1)}H${y.toFixed(1)}V20z` : "";
      });
      put("normal", column.low, column.high);
      place.append(svg("svg", { viewBox: "0 0 100 20", preserveAspectRatio: "none" }, svg("path", { d: path.join("") })));
      if (near.length) put("near", near[0], near[1]);
      put(value === shown ? "value" : `value far ${value > shown ? "right" : "left"}`, shown);
    }
    const usual = reason ? `near it ${reason.normal}` : normal(column);
    const look = outside(column, value) || reason?.out ? "out" : null;
    return make("li", { class: look }, make("span", { class: "column" }, column.name), place,
      make("b", {}, said(value)), make("span", { class: "note" }, usual));
  }

  function bars(row) {
    const all = ordered(row), reasons = new Map((row.reasons || []).map((reason) => [reason.name, reason]));
    const drawn = (some) => make("ul", { class: "bars" }, ...some.map((one) => bar(one, reasons.get(one.column.name))));
    const most = all.length <= 9 ? all.length : 8;
    const rest = all.length > most ? fold(`${all.length - most} more columns`, () => [drawn(all.slice(most))]) : null;
    const words = "Its values against 95% of the normal rows (shaded) and how these are spread";
    return make("div", {}, make("h4", {}, words), drawn(all.slice(0, most)), rest);
  }

  function fold(title, contents) { // its contents are made when it is first opened
    const made = make("details", {}, make("summary", {}, title));
    made.addEventListener("toggle", () => { if (made.children.length === 1) made.append(...contents()); });
    return made;
  }

  function table(head, body, look) {
    const cells = (row, first) => row.map((cell, k) => make(k && !first ? "td" : "th", { scope: first ? "col" : k ? null : "row" }, cell));
    const made = make("table", { class: look }, make("thead", {}, make("tr", {}, ...cells(head, true))),
      make("tbody", {}, ...body.map((row) => make("tr", {}, ...cells(row, false)))));
    return make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": `Table: ${head.join(", ")}` }, made);
  }

  function neighbours(row) {
    if (!row.near.length) return null;
    const head = ["", "this row", ...row.near.map((one) => `${data.called} ${one.name}`)];
    const body = [["dissimilarity", "", ...row.near.map((one) => short(one.far))]];
    if (row.values) {
      for (const { column, value, k } of ordered(row).slice(0, 8)) {
        body.push([column.name, said(value), ...row.near.map((one) => said(one.values[k]))]);
      }
    } else body.push(["", row.words, ...row.near.map((one) => one.words)]);
    return make("div", {}, make("h4", {}, row.heading), table(head, body, row.values ? "numbers" : null));
  }

  function reasons(row) { // of a record, whose parts are no columns
    return table(["part", "value", "normal rows near it", "share"], row.reasons.map((one) => [one.name, one.said, one.normal, one.share]));
  }

  function how(row) {
    return fold("How the decision was made", () => [
      make("p", {}, row.meaning),
      ...(row.parts.length ? [table(["What makes the difference", "amount", "share"], row.parts)] : []),
      ...row.notes.map((note) => make("p", { class: "note" }, note)),
    ]);
  }

  function detail(row) {
    const made = make("div", { class: "detail" });
    const label = row.label == null ? "" : ` Labelled ${row.label ? "normal" : "an outlier"}${isWrong(row) ? ": the decision is wrong" : ""}.`;
    made.append(make("p", { class: "say" }, make("strong", { class: DECISIONS[row.decision] }, DECISIONS[row.decision]),
      ` ${row.say || `How far out: ${short(row.out)}.`}${label}`));
    if (row.words && !row.values && !row.picture) made.append(make("p", { class: "words" }, row.words));
    if (row.picture) { // HTML that Python wrote and escaped
      const holder = make("template");
      holder.innerHTML = row.picture;
      made.append(holder.content);
    }
    if (row.values) made.append(bars(row));
    else if (row.reasons?.some((one) => one.normal)) made.append(reasons(row));
    if (row.say) made.append(...[neighbours(row), how(row)].filter(Boolean));
    else made.append(make("p", { class: "note" }, `This page explains the ${data.n_explained} most unusual rows in full; eocc explain explains any row.`));
    return made;
  }

  return { DECISIONS, $, data, detail, isWrong, make, normal, ordered, said, short, svg, table };
})();
