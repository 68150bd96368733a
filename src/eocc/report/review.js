"use strict";
(() => { // asks about the rows one by one, keeps the answers in the browser, and saves them as a CSV file
  const { $, data, detail, make, table, unfold } = page;
  const place = `eocc-review-${data.key}`, LOOK = { normal: "accepted", "not normal": "rejected", skip: "skipped" };
  const card = $("card"), answers = data.rows.map(() => null);
  let at = 0, isKept = true, isSaved = true; // `at` is the row that is asked about; after the last one, all are done

  const given = () => data.rows.map((row, k) => [row, answers[k]]).filter(([, answer]) => answer && answer !== "skip");
  const count = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;

  function restore() { // a browser may refuse to keep anything
    try {
      const kept = JSON.parse(localStorage.getItem(place)) || [];
      answers.forEach((_, k) => { if (kept[k] in LOOK) answers[k] = kept[k]; });
    } catch { isKept = false; }
    at = answers.includes(null) ? answers.indexOf(null) : answers.length;
  }

  function keep() {
    isSaved = false;
    if (isKept) try { localStorage.setItem(place, JSON.stringify(answers)); } catch { isKept = false; }
  }

  function step(row, k) {
    const label = `${k + 1}: row ${row.name}, ${answers[k] || "no answer yet"}`;
    const made = make("button", { type: "button", class: `step ${LOOK[answers[k]] || "open"}`, "aria-label": label, title: label,
      "aria-current": k === at ? "step" : null }, String(k + 1));
    made.addEventListener("click", () => go(k));
    return make("li", {}, made);
  }

  function asked(row, k = at) {
    const answer = answers[k];
    return [make("h2", { id: k === at ? "row-title" : null, tabindex: "-1" }, `Row ${row.name}`),
      make("p", { class: "note" }, `Why this row: ${row.reason}.`, answer ? make("span", { class: `chip ${LOOK[answer]}` }, `Your answer: ${answer}`) : null),
      detail(row)];
  }

  function done() {
    const open = answers.filter((answer) => !answer).length, n = given().length;
    const lines = data.rows.map((row, k) => {
      const change = make("button", { type: "button", class: "link" }, row.name);
      change.addEventListener("click", () => go(k));
      const chip = make("span", { class: `chip ${LOOK[answers[k]] || ""}` }, answers[k] || "no answer");
      return [change, chip, row.reason];
    });
    return [make("h2", { id: "row-title", tabindex: "-1" }, open ? `${count(open, "row")} without an answer` : "All rows are done"),
      make("p", {}, n ? "Save the answers, or open a row to change one." : "Nothing to save yet: open a row to answer it."),
      table(["row", "your answer", "why it was asked"], lines)];
  }

  function draw() {
    const isDone = at === answers.length, n = given().length;
    $("steps").replaceChildren(...data.rows.map(step));
    card.replaceChildren(...(isDone ? done() : asked(data.rows[at])));
    $("progress").textContent = `${isDone ? answers.filter(Boolean).length : at + 1} of ${answers.length}`;
    for (const button of document.querySelectorAll("[data-answer]")) {
      button.disabled = isDone;
      button.setAttribute("aria-pressed", !isDone && answers[at] === button.dataset.answer);
    }
    $("back").disabled = at === 0;
    $("next").disabled = isDone;
    $("save").disabled = n === 0;
    $("save").textContent = n ? `Save ${count(n, "answer")}` : "Save";
    $("save").classList.toggle("main", isDone && !isSaved);
  }

  function say(text) {
    $("said").textContent = `${text}${isKept ? "" : " This browser does not keep the answers: save them before you close the page."}`;
  }

  function go(to) {
    at = Math.min(Math.max(to, 0), answers.length);
    draw();
    say(at === answers.length ? card.firstChild.textContent + "." : `${at + 1} of ${answers.length}: row ${data.rows[at].name}.`);
    if (card.getBoundingClientRect().top < 0) card.scrollIntoView();
    if (!document.activeElement || document.activeElement === document.body || document.activeElement.disabled) $("row-title").focus({ preventScroll: true });
  }

  function answer(word) {
    if (at === answers.length) return;
    const before = data.rows[at].name;
    answers[at] = word;
    keep();
    go(at + 1);
    say(`Row ${before}: ${word === "skip" ? "skipped" : word}. ${$("said").textContent}`);
  }

  function save() {
    const cell = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const line = ([row, answer]) => data.head.map((name) => ({ row: row.name, answer, data: data.data })[name] ?? row[name]);
    const text = [data.head, ...given().map(line)].map((cells) => cells.map(cell).join(",")).join("\n");
    const link = make("a", { href: URL.createObjectURL(new Blob([`${text}\n`], { type: "text/csv" })), download: "answers.csv" });
    document.body.append(link);
    link.click();
    link.remove();
    isSaved = true;
    draw();
    say(`Saved ${count(given().length, "answer")} as answers.csv.`);
  }

  for (const button of document.querySelectorAll("[data-answer]")) button.addEventListener("click", () => answer(button.dataset.answer));
  $("back").addEventListener("click", () => go(at - 1));
  $("next").addEventListener("click", () => go(at + 1));
  $("save").addEventListener("click", save);
  addEventListener("keydown", (event) => {
    if (!$("use-keys").checked || event.altKey || event.ctrlKey || event.metaKey || event.repeat) return;
    const ways = event.target.closest?.(".scroll") ? {} : { ArrowLeft: at - 1, ArrowRight: at + 1 }; // a wide table scrolls
    const key = event.key.toLowerCase();
    if (key in data.keys) answer(data.keys[key]);
    else if (event.key in ways) go(ways[event.key]);
    else return;
    event.preventDefault();
  });
  addEventListener("beforeunload", (event) => { if (!isKept && !isSaved) event.preventDefault(); });

  addEventListener("beforeprint", () => { card.replaceChildren(...data.rows.flatMap(asked)); unfold(); }); // all rows
  addEventListener("afterprint", draw);

  restore();
  draw();
  if (!isKept) say("");
})();
