// Links and forms that swap one region of the page. htmx's attribute names, a frozen handful:
// hx-get hx-post hx-target hx-push-url hx-replace-url; triggers click, change, submit, delayed input.
"use strict";
const lite = (() => {
  document.documentElement.classList.add("js");
  let turn = 0;
  let shown = location.pathname + location.search;

  const fire = (region) => document.dispatchEvent(new CustomEvent("lite:swap", { detail: region }));

  function swap(region, html) {
    const focused = region.contains(document.activeElement) ? document.activeElement : null;
    const { id, selectionStart, selectionEnd } = focused || {};
    region.innerHTML = html;
    const again = id && document.getElementById(id);
    if (again) {
      again.focus({ preventScroll: true });
      if (selectionStart != null) again.setSelectionRange(selectionStart, selectionEnd);
    } else if (focused) {
      const head = region.querySelector("h2[tabindex], h1[tabindex]") || document.getElementById("main");
      head.focus({ preventScroll: true });
    }
    fire(region);
  }

  function remember(url, how) {
    if (how === "push") {
      history.replaceState({ ...history.state, y: scrollY }, "");
      history.pushState({ y: scrollY }, "", url);
    } else if (how === "replace") history.replaceState({ y: scrollY }, "", url);
    shown = location.pathname + location.search;
  }

  async function load(url, region, { how = "", method = "GET", body } = {}) {
    const mine = ++turn;
    region.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(url, { method, body, headers: { "HX-Request": "true", "HX-Target": region.id } });
      const html = await answer.text();
      if (mine !== turn) return;
      if (!answer.ok || answer.redirected) { location.assign(answer.redirected ? answer.url : url); return; }
      remember(answer.headers.get("HX-Push-Url") || url, how);
      swap(region, html);
    } catch {
      if (mine === turn) document.dispatchEvent(new CustomEvent("lite:lost"));
    } finally {
      region.removeAttribute("aria-busy");
    }
  }

  function go(element, url, body) {
    const region = document.querySelector(element.getAttribute("hx-target"));
    if (!region) return false;
    const how = element.hasAttribute("hx-push-url") ? "push" : element.hasAttribute("hx-replace-url") ? "replace" : "";
    load(url, region, { how, body, method: body ? "POST" : "GET" });
    return true;
  }

  function send(form, changed) {
    const fields = new FormData(form);
    if (form.hasAttribute("hx-post")) return go(form, form.getAttribute("hx-post"), fields);
    const query = new URLSearchParams();
    for (const [name, value] of fields) {
      const replaced = changed === "period" && (name === "since" || name === "until");
      if (value && !replaced) query.append(name, value);
    }
    const text = query.toString();
    return go(form, form.getAttribute("hx-get") + (text ? "?" + text : ""));
  }

  const plain = (event) => !event.defaultPrevented && !event.button && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[hx-get]");
    if (link && plain(event) && go(link, link.getAttribute("hx-get"))) event.preventDefault();
  });
  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form[hx-get], form[hx-post]");
    if (form && !event.defaultPrevented && send(form)) event.preventDefault();
  });
  document.addEventListener("change", (event) => {
    const form = event.target.closest("form[data-submit]");
    if (!form || event.target.dataset.delay) return;
    if (form.hasAttribute("hx-get")) send(form, event.target.name);
    else form.requestSubmit();
  });
  let waiting = 0;
  document.addEventListener("input", (event) => {
    const form = event.target.dataset.delay && event.target.closest("form[hx-get]");
    if (!form) return;
    clearTimeout(waiting);
    waiting = setTimeout(() => send(form), Number(event.target.dataset.delay));
  });
  // Back and Forward fetch again: pages are never kept by the browser.
  addEventListener("popstate", async (event) => {
    const here = location.pathname + location.search;
    if (here === shown) return;
    shown = here;
    const mine = ++turn;
    try {
      const answer = await fetch(here);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (mine !== turn) return;
      document.title = page.title;
      document.body.dataset.context = page.body.dataset.context;
      document.getElementById("main").innerHTML = page.getElementById("main").innerHTML;
      fire(document.getElementById("main"));
      scrollTo(0, event.state?.y || 0);
    } catch {
      location.reload();
    }
  });
  return { load, swap };
})();
