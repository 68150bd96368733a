"use strict";
const page = (() => { // how a row is shown, for every page that shows one
  const data = JSON.parse(document.getElementById("page-data").textContent);
  const DECISIONS = ["accepted", "rejected", "discovery"];
  const $ = (id) => document.getElementById(id);

  function fill(made, attributes, children) {
    for (const [key, value] of Object.entries(attributes)) if (value != null) made.setAttribute(key, value);
    made.append(...children.filter((child) => child != null));
    return made;
  }
  const make = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);
  const svg = (name, attributes = {}, ...children) =>
    fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
  const said = (value) => value ?? "missing";
  const isWrong = (row) => row.label != null && row.rejected === row.label;

  // How far a value lies outside the normal range, in widths of the histogram; 1 for a category that is new.
  function outside(column, place) {
    if (place == null) return 0;
    if (column.shares) return place < 0 ? 1 : 0;
    return Math.max(column.band[0] - place, place - column.band[1], 0);
  }

  function usual(column, place, reason) {
    if (reason?.normal) return `near it ${reason.normal}`;
    if (!column.shares || place == null) return column.usual;
    return place < 0 ? "in no normal row" : `in ${Math.round(100 * column.shares[place][1]) || "under 1"}% of normal rows`;
  }

  // The columns in the order of importance: those the explanation names, then those farthest outside.
  function ordered(row) {
    const rank = new Map((row.reasons || []).map((reason, k) => [reason.name, k]));
    return data.columns.map((column, k) => ({ column, value: row.values[k], place: row.places[k], k, far: outside(column, row.places[k]) }))
      .sort((a, b) => (rank.get(a.column.name) ?? 1e6) - (rank.get(b.column.name) ?? 1e6) || b.far - a.far || a.k - b.k);
  }

  // ---- one row, opened

  function numbers(track, column, value, near) { // a histogram from 0 to 1, the normal range, and the value
    let [low, high] = [Math.min(0, value ?? 0, ...near), Math.max(1, value ?? 1, ...near)];
    [low, high] = [low - 0.03, high + 0.03];
    const at = (number) => (100 * (number - low)) / (high - low);
    const put = (look, from, to) => {
      const made = make("i", { class: look });
      made.style.left = `${at(from)}%`;
      if (to != null) made.style.width = `${at(to) - at(from)}%`;
      track.append(made);
    };
    const top = Math.max(...column.counts), n = column.counts.length;
    const path = column.counts.map((count, k) => (count ? `M${at(k / n).toFixed(1)} 20v${(-18 * count / top).toFixed(1)}H${at((k + 1) / n).toFixed(1)}V20z` : ""));
    put("normal", ...column.band);
    track.append(svg("svg", { viewBox: "0 0 100 20", preserveAspectRatio: "none" }, svg("path", { d: path.join("") })));
    if (near.length) put("near", ...near);
    if (value != null) put(value <= -1.5 ? "value far left" : value >= 2.5 ? "value far right" : "value", value);
    if (column.log) track.append(make("small", {}, "log"));
  }

  function categories(track, column, value) { // one bar each, that of this value marked; a new one has a dashed frame
    const bars = value === -1 ? [...column.shares, ["new", 0]] : column.shares, mine = value === -1 ? bars.length - 1 : value;
    const top = Math.max(...bars.map(([, share]) => share)), wide = 100 / Math.max(bars.length, 4);
    track.append(...bars.map(([label, share], k) => {
      const look = `share${label === column.rest ? " rest" : ""}${k !== mine ? "" : value === -1 ? " new" : " mine"}`;
      const made = make("i", { class: look, title: `${label}: ${Math.round(100 * share)}%` });
      made.style.left = `${k * wide}%`;
      made.style.width = `calc(${wide}% - 2px)`;
      made.style.height = value === -1 && k === mine ? "100%" : `max(${(100 * share) / top}%, 2px)`;
      return made;
    }));
  }

  function bar({ column, value, place }, reason) {
    const track = make("div", { class: "track", "aria-hidden": "true" });
    if (column.shares) categories(track, column, place);
    else numbers(track, column, place, reason?.near ?? []);
    const look = outside(column, place) || reason?.out ? "out" : null, text = reason?.said || said(value);
    return make("li", { class: look }, make("span", { class: "column" }, column.name), track,
      make("b", { class: text.length <= 16 ? "whole" : null }, text), make("span", { class: "note" }, usual(column, place, reason)));
  }

  function bars(row) {
    const all = ordered(row), reasons = new Map((row.reasons || []).map((reason) => [reason.name, reason]));
    const drawn = (some) => make("ul", { class: "bars" }, ...some.map((one) => bar(one, reasons.get(one.column.name))));
    const most = all.length <= 7 ? all.length : 6;
    const rest = all.length > most ? fold(`${all.length - most} more columns`, () => [drawn(all.slice(most))]) : null;
    return make("div", {}, make("h3", {}, "Its values, and what is normal"), drawn(all.slice(0, most)), rest);
  }

  function fold(title, contents) { // its contents are made when it is first opened
    const made = make("details", {}, make("summary", {}, title));
    made.fill = () => { if (made.children.length === 1) made.append(...contents()); };
    made.addEventListener("toggle", made.fill);
    return made;
  }

  function unfold() { // everything, for print; fold() in the event would be too late
    for (const one of document.querySelectorAll("details:not([open])")) {
      one.fill?.();
      one.open = true;
    }
  }

  function table(head, body, look) {
    const cells = (row, first) => row.map((cell, k) => make(k && !first ? "td" : "th", { scope: first ? "col" : k ? null : "row" }, cell));
    const made = make("table", { class: look }, make("thead", {}, make("tr", {}, ...cells(head, true))),
      make("tbody", {}, ...body.map((row) => make("tr", {}, ...cells(row, false)))));
    return make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": `Table: ${head.map((one) => one.textContent ?? one).join(", ")}` }, made);
  }

  function neighbours(row) {
    if (!row.near.length) return null;
    const head = ["column", "this row", ...row.near.map((one) => make("span", {}, `${data.called} `, make("span", { class: "whole" }, one.name)))];
    const body = [["dissimilarity", "", ...row.near.map((one) => one.far)]];
    if (row.values) {
      for (const { column, value, k } of ordered(row).slice(0, 8)) {
        const reason = row.reasons.find((one) => one.name === column.name);
        body.push([column.name, reason?.said || said(value), ...row.near.map((one) => said(one.values[k]))]);
      }
    } else body.push(["contents", row.words, ...row.near.map((one) => one.words)]);
    return fold(row.heading, () => [table(head, body, row.values ? "numbers" : null)]);
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
      ` ${row.say || `How far out: ${row.out}.`}${label}`));
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

  return { DECISIONS, $, data, detail, isWrong, make, ordered, said, svg, table, unfold };
})();
