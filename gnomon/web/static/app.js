// Keys (from the sheet that keys.py wrote), the tree, polling, times, ids.
"use strict";
(() => {
  const $ = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const say = (text) => { $("#say").textContent = text; };

  function toast(text) {
    $(".toast")?.remove();
    const box = document.createElement("div");
    box.className = "toast";
    box.textContent = text;
    document.body.append(box);
    say(text);
    setTimeout(() => box.remove(), 2500);
  }
  document.addEventListener("lite:lost", () => toast("No answer from Gnomon; nothing was changed. Try again."));

  // Tree
  const tree = () => $("[data-tree]");
  const rows = () => all("[role=treeitem]", tree()).filter((row) => !row.hidden);
  const current = () => { const at = document.activeElement; return at?.closest?.("[data-tree]") ? at : $("[data-tree] [tabindex='0']"); };
  const level = (row) => Number(row.getAttribute("aria-level"));

  function inside(row) {
    const found = [];
    for (let next = row.nextElementSibling; next && level(next) > level(row); next = next.nextElementSibling) found.push(next);
    return found;
  }
  function fold(row, open) {
    const within = inside(row);
    if (!within.length) { if (open) location.assign(row.href); return; }
    row.setAttribute("aria-expanded", String(open));
    let closed = Infinity;
    for (const one of within) {
      if (level(one) <= closed) closed = Infinity;
      one.hidden = !open || closed < Infinity;
      if (closed === Infinity && one.getAttribute("aria-expanded") === "false") closed = level(one);
    }
  }
  function roam(row) {
    for (const old of all("[tabindex='0']", tree())) old.tabIndex = -1;
    row.tabIndex = 0;
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  }
  let later = 0;
  let pending = null;
  const flush = () => { clearTimeout(later); const load = pending; pending = null; return load?.(); };
  function choose(row, how) {
    roam(row);
    if (row.hasAttribute("data-more") || (row.getAttribute("aria-expanded") === "false" && !inside(row).length)) {
      if (how === "push") location.assign(row.href);
      return;
    }
    for (const old of all("[aria-selected]", tree())) old.removeAttribute("aria-selected");
    row.setAttribute("aria-selected", "true");
    const url = new URL(row.href);
    const view = new URLSearchParams(location.search).get("view");
    if (view) url.searchParams.set("view", view); else url.searchParams.delete("view");
    clearTimeout(later);
    pending = () => lite.load(url.pathname + url.search, $("#detail"), { how });
    later = setTimeout(flush, how === "push" ? 0 : 80); // a held arrow key loads where it stops
  }
  function reveal(row) {
    let seek = level(row);
    for (let up = row.previousElementSibling; up && seek > 1; up = up.previousElementSibling) {
      if (level(up) < seek) { seek = level(up); if (up.getAttribute("aria-expanded") === "false") fold(up, true); }
    }
    choose(row, "replace");
  }
  const moves = {
    down: (list, at) => list[at + 1],
    up: (list, at) => list[at - 1],
    home: (list) => list[0],
    end: (list) => list.at(-1),
    right(list, at) {
      if (list[at].getAttribute("aria-expanded") === "false") { fold(list[at], true); return null; }
      return list[at + 1] && level(list[at + 1]) > level(list[at]) ? list[at + 1] : null;
    },
    left(list, at) {
      if (list[at].getAttribute("aria-expanded") === "true") { fold(list[at], false); return null; }
      return list.slice(0, at).reverse().find((row) => level(row) < level(list[at]));
    },
  };
  function toStep(step) {
    const url = new URL(location);
    url.searchParams.set("step", step);
    url.hash = "";
    return url;
  }
  function walk(how) {
    if (!tree()) return;
    if (how === "error" || how === "slowest") {
      const every = all("[role=treeitem]", tree());
      const from = every.indexOf($("[aria-selected=true]", tree()));
      const after = [...every.slice(from + 1), ...every.slice(0, from + 1)];
      const bad = after.find((row) => row.matches(".bad.work")) || after.find((row) => row.matches(".bad"));
      const failed = (tree().dataset.errors || "").split(" "); // of a large run: also those not drawn
      const known = failed.indexOf(every[from]?.dataset.step);
      const next = known < 0 ? bad?.dataset.step || failed[0] : failed[(known + 1) % failed.length];
      const key = how === "error" ? next : tree().dataset.slowest;
      const goal = key && every.find((row) => row.dataset.step === key);
      if (goal) reveal(goal); else if (key) location.assign(toStep(key)); else toast(how === "error" ? "No step failed." : "No step took time.");
      return;
    }
    const list = rows();
    const at = Math.max(0, list.indexOf(current()));
    const goal = moves[how](list, at);
    if (goal) choose(goal, "replace");
  }
  document.addEventListener("click", (event) => {
    const row = event.target.closest("[data-tree] [role=treeitem]");
    if (!row || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    const label = $(".l", row).getBoundingClientRect();
    if (row.hasAttribute("aria-expanded") && event.clientX < label.left && event.clientX > label.left - 24) {
      fold(row, row.getAttribute("aria-expanded") === "false");
      roam(row);
    } else choose(row, "push");
  });

  // Dragging over the axis or the small map zooms the time; the button shows the whole again
  const placed = () => all(".rows rect, .rows line, .axis text", $(".tree"));
  function zoom(from, to) {
    $(".tree").classList.toggle("zoomed", to - from < 99.9);
    for (const one of placed()) {
      const name = one.tagName === "line" ? "x1" : "x";
      const x = ((Number((one.dataset.x ||= one.getAttribute(name) || "0").replace("%", "")) - from) / (to - from)) * 100;
      one.setAttribute(name, `${x}%`);
      if (name === "x1") one.setAttribute("x2", `${x}%`);
      if (one.tagName === "text") one.setAttribute("visibility", x < -1 || x > 101 ? "hidden" : "visible");
      if (one.tagName !== "rect") continue;
      one.dataset.w ||= one.getAttribute("width");
      one.setAttribute("width", `${(Number(one.dataset.w.replace("%", "")) / (to - from)) * 100}%`);
    }
    $(".whole")?.remove();
    if (to - from > 99.9) return;
    const button = document.createElement("button");
    button.className = "whole small";
    button.textContent = "Whole run";
    button.addEventListener("click", () => zoom(0, 100));
    $(".tree").append(button);
  }
  let grip = null;
  const share = (event, element) => { const frame = element.getBoundingClientRect(); return Math.min(100, Math.max(0, ((event.clientX - frame.left) / frame.width) * 100)); };
  document.addEventListener("pointerdown", (event) => {
    const scale = event.target.closest?.(".axis, .mini");
    if (scale && !event.button) { grip = { scale, from: share(event, scale) }; event.preventDefault(); }
  });
  document.addEventListener("pointerup", (event) => {
    if (!grip) return;
    const to = share(event, grip.scale);
    if (Math.abs(to - grip.from) > 1 && !$(".zoomed")) zoom(Math.min(grip.from, to), Math.max(grip.from, to));
    grip = null;
  });

  // Seen: digests of tasks, no word of them, on this machine only
  const MARKS = "gnomon.seen";
  const seenMarks = () => { try { return JSON.parse(localStorage.getItem(MARKS)) || []; } catch { return []; } };
  const keepMarks = (marks) => { try { localStorage.setItem(MARKS, JSON.stringify(marks.slice(-2000))); } catch { toast("The browser keeps no marks"); } };
  function showMarks(root) {
    const marks = seenMarks();
    for (const one of all("[data-seen]", root)) {
      const known = marks.includes(one.dataset.seen);
      one.classList.toggle("seen", known);
      const button = $("[data-act=seen]", one);
      if (button) { button.hidden = false; button.setAttribute("aria-pressed", String(known)); }
    }
  }

  // Keys
  const acts = {
    sheet() { const sheet = $("#sheet"); if (sheet.open) sheet.close(); else sheet.showModal(); },
    search() { ($("#search") || $("#jump")).focus(); },
    jump() { $("#jump").focus(); $("#jump").select(); },
    go(path) { location.assign(path); },
    zone() { zoned(!local); },
    leave() { document.activeElement?.blur(); },
    row(by) {
      const list = all("[data-row]");
      if (!list.length) { $(`[data-follow="${by > 0 ? "next" : "prev"}"]`)?.click(); return; }
      const at = list.indexOf(document.activeElement);
      (list[Math.min(list.length - 1, Math.max(0, at + Number(by)))] || document.body).focus();
    },
    more() {
      const menu = $("[data-menu]");
      if (!menu) { location.assign("/status"); return; }
      menu.open = true;
      $("a", menu).focus();
    },
    seen() {
      const one = document.activeElement?.closest("[data-seen]") || (all("[data-row]").length ? null : $("[data-seen]"));
      if (!one) { acts.row(1); return; }
      const marks = seenMarks();
      const known = marks.includes(one.dataset.seen);
      keepMarks(known ? marks.filter((mark) => mark !== one.dataset.seen) : [...marks, one.dataset.seen]);
      showMarks(document);
      $("[data-row]", one)?.focus();
      if (!known) acts.row(1);
    },
    open() { document.activeElement?.matches("[data-row]") ? document.activeElement.click() : all("[data-row]")[0]?.click(); },
    async follow(name) {
      await flush();
      const link = $(`[data-follow="${name}"]`);
      if (name === "raw" && link?.hasAttribute("aria-current")) { $("[data-follow=content]")?.click(); return; }
      link?.click();
    },
    tree: walk,
    messages() { document.activeElement?.closest("#detail") ? current()?.focus() : $("#detail h2")?.focus(); },
    point(by) { document.dispatchEvent(new CustomEvent("chart:point", { detail: Number(by) })); },
  };
  const sheet = all("#sheet [data-key]").map((item) => ({ ...item.dataset, keys: item.dataset.key }));
  let first = "";
  let since = 0;
  const quiet = () => localStorage.getItem("gnomon.keys") === "off";

  function contexts(at) {
    const names = ["everywhere"];
    if (at?.matches?.("[data-chart]")) names.push("chart");
    names.push(document.body.dataset.context);
    return names;
  }
  const arrows = /^(Arrow|Home|End|Enter)/;
  function free(key, at) {
    if (!arrows.test(key)) return true;
    return !at || at === document.body || at.id === "main" || (at.closest("[data-tree]") ? key !== "Enter" : at.matches("[data-chart]"));
  }
  function find(event) {
    const at = document.activeElement;
    const chord = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey ? `Control+${event.key.toLowerCase()}` : "";
    const names = contexts(at);
    const known = sheet.filter((one) => names.includes(one.context));
    if (chord) return known.find((one) => one.keys === chord);
    if (event.altKey || event.ctrlKey || event.metaKey || quiet()) return null;
    const pair = performance.now() - since < 900 ? `${first} ${event.key}` : "";
    const single = (one) => one.keys === event.key && free(event.key, at);
    return known.find((one) => one.keys === pair) || known.findLast(single);
  }
  document.addEventListener("keydown", (event) => {
    const at = document.activeElement;
    const typing = at?.matches("input, select, textarea, [contenteditable]");
    if (event.key === "Escape") { const menu = $("[data-menu][open]"); if (menu) { menu.open = false; $("summary", menu).focus(); } else if (typing) at.blur(); return; }
    const dialog = $("dialog[open]");
    if (dialog && event.key !== "?") return;
    if (typing && !(event.ctrlKey || event.metaKey)) return;
    const found = find(event);
    if (!found) {
      if (event.key.length === 1 && !event.ctrlKey && !event.metaKey) { first = event.key; since = performance.now(); }
      return;
    }
    first = "";
    event.preventDefault();
    acts[found.do](found.argument);
  });
  document.addEventListener("click", (event) => {
    const menu = $("[data-menu][open]");
    if (menu && !menu.contains(event.target)) menu.open = false;
    const opener = event.target.closest("[data-act]");
    if (opener) { event.preventDefault(); opener.focus(); acts[opener.dataset.act](); }
    if (event.target.matches("dialog")) event.target.close();
    const id = event.target.closest("[data-copy]");
    if (id) copy(id);
  });
  document.addEventListener("keydown", (event) => {
    if ((event.key === "Enter" || event.key === " ") && event.target.matches?.("[data-copy]")) { event.preventDefault(); copy(event.target); }
  });
  document.addEventListener("submit", (event) => {
    const text = event.target.dataset.confirm;
    if (text && !confirm(text)) event.preventDefault();
  }, true);
  const box = $("[data-single]");
  box.checked = quiet();
  box.addEventListener("change", () => localStorage.setItem("gnomon.keys", box.checked ? "off" : "on"));

  // Ids and times
  function copy(element) {
    navigator.clipboard?.writeText(element.dataset.copy).then(() => toast("Copied"), () => toast("The browser does not allow copying here"));
  }
  let local = false;
  const zoneName = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const own = (element) => {
    const when = new Date(element.dateTime);
    const year = when.getFullYear() === new Date().getFullYear() ? {} : { year: "numeric" };
    return when.toLocaleString("en-GB", { day: "numeric", month: "short", ...year, hour: "2-digit", minute: "2-digit", second: "2-digit" }).replace(",", "");
  };
  function zoned(on) {
    local = on;
    for (const one of all("time")) { one.dataset.utc ||= one.textContent; one.textContent = on ? own(one) : one.dataset.utc; }
    $("[data-zone]").textContent = on ? `Times are ${zoneName}` : "Times are UTC";
  }
  document.addEventListener("mouseover", (event) => {
    const one = event.target.closest?.("time");
    if (one && !one.title) one.title = `${own(one)} ${zoneName}`;
  });

  // Live: conditional polling, silent while hidden, slower while there is no answer
  const tags = new Map();
  let answered = performance.now();
  let lost = false;
  const busy = (region) => region.matches(":focus-within") || $("details[open]", region) || $(".tip");

  async function poll(region) {
    const url = region.dataset.poll;
    const headers = { "HX-Request": "true", "HX-Target": region.id };
    if (tags.has(url)) headers["If-None-Match"] = tags.get(url);
    const answer = await fetch(url, { headers });
    if (answer.ok && region.isConnected && region.dataset.poll === url && !busy(region)) {
      const html = await answer.text();
      if (busy(region)) return;
      region.innerHTML = html;
      tags.set(url, answer.headers.get("ETag"));
      prepare(region);
    } else if (answer.status >= 500) throw new Error(String(answer.status));
  }
  function watch(region) {
    if (region.dataset.watched) return;
    region.dataset.watched = "1";
    const every = Number(region.dataset.every) * 1000;
    let wait = every;
    const turn = async () => {
      if (!region.isConnected) return;
      if (!document.hidden) {
        try { await poll(region); answered = performance.now(); lost = false; wait = every; }
        catch { lost = true; wait = Math.min(30000, wait * 2); }
      }
      setTimeout(turn, wait);
    };
    setTimeout(turn, wait);
  }
  setInterval(() => {
    const polled = $("[data-poll]");
    if (!document.hidden) $("[data-live]").textContent = !polled ? "" : lost ? "reconnecting…" : `live · ${Math.round((performance.now() - answered) / 1000)} s ago`;
  }, 1000);

  function prepare(root) {
    for (const id of all("[data-copy]", root)) { id.tabIndex = 0; id.setAttribute("role", "button"); id.title = "Copy"; id.setAttribute("aria-label", `Copy ${id.dataset.copy}`); }
    for (const region of [...(root.matches?.("[data-poll]") ? [root] : []), ...all("[data-poll]", root)]) watch(region);
    if (local) zoned(true);
    showMarks(root);
  }
  document.addEventListener("lite:swap", (event) => prepare(event.detail));
  prepare(document);
  const chosen = $("[data-tree] [aria-selected=true]");
  const opened = location.hash && $(`[data-step="${CSS.escape(location.hash.slice(1))}"]`);
  if (opened) roam(opened);
  else if (chosen && chosen.getBoundingClientRect().bottom > innerHeight) chosen.scrollIntoView({ block: "center" });
})();
