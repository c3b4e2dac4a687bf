// Run by the tests inside a finished HTML report: uses the page as a reader would, looks for what would
// shut readers out, and writes what it found into the document as JSON.
(function () {
  "use strict";
  var problems = [], facts = {};
  function problem(text) { problems.push(text); }
  function expect(holds, text) { if (!holds) problem(text); }
  function all(selector, root) { return Array.from((root || document).querySelectorAll(selector)); }
  function visible(node) { return node.getClientRects().length > 0; }
  function describe(node) { return node.outerHTML.slice(0, 90); }

  // ---- names, order, landmarks
  function nameOf(node) {
    var by = node.getAttribute("aria-labelledby");
    if (by) return by.split(" ").map(function (id) { var n = document.getElementById(id); return n ? n.textContent : ""; }).join(" ").trim();
    if (node.getAttribute("aria-label")) return node.getAttribute("aria-label").trim();
    if (node.id && document.querySelector("label[for='" + node.id + "']")) return document.querySelector("label[for='" + node.id + "']").textContent.trim();
    return (node.textContent || node.getAttribute("title") || "").trim();
  }
  function checkNames() {
    all("a, button, input, select, textarea, summary, [role=img], [role=region], svg").forEach(function (node) {
      if (visible(node) && !nameOf(node)) problem("no name: " + describe(node));
    });
    all("[aria-labelledby]").forEach(function (node) {
      node.getAttribute("aria-labelledby").split(" ").forEach(function (id) {
        expect(document.getElementById(id), "no such label: " + id);
      });
    });
    all("a, button, input, select, summary").forEach(function (node) { expect(node.tabIndex >= 0, "not reached by keyboard: " + describe(node)); });
    all("[tabindex]").forEach(function (node) { expect(node.tabIndex <= 0, "changes the order of keyboard focus: " + describe(node)); });
    all("img, iframe, object, embed, video").forEach(function (node) { problem("unexpected: " + describe(node)); });
    all("svg").forEach(function (node) { expect(node.getAttribute("role") === "img", "picture without a role: " + describe(node)); });
  }
  function checkStructure() {
    expect(document.documentElement.lang === "en", "no language");
    expect(document.title.length > 0, "no title");
    ["main", "header", "nav", "footer"].forEach(function (tag) { expect(all(tag).length === 1, "not one " + tag); });
    expect(all("h1").length === 1, "not one first heading");
    var before = 0;
    all("h1, h2, h3, h4, h5, h6").filter(visible).forEach(function (heading) {
      var level = Number(heading.tagName[1]);
      expect(level <= before + 1, "heading skips a level: " + describe(heading));
      before = level;
    });
    var ids = {};
    all("[id]").forEach(function (node) { expect(!ids[node.id], "id twice: " + node.id); ids[node.id] = true; });
    all("table").forEach(function (table) {
      expect(all("thead th", table).length > 0, "table without head");
      all("th", table).forEach(function (cell) { expect(cell.getAttribute("scope"), "header cell without scope: " + describe(cell)); });
    });
    all("ul, ol").forEach(function (list) {
      Array.from(list.children).forEach(function (child) { expect(child.tagName === "LI", "not an item of a list: " + describe(child)); });
    });
    all("nav a").forEach(function (link) { expect(document.querySelector(link.getAttribute("href")), "leads nowhere: " + describe(link)); });
  }

  // ---- contrast, from the colours that the browser computed
  function parse(color) {
    var parts = (color.match(/[\d.]+/g) || []).map(Number);
    return parts.length < 3 ? null : { r: parts[0], g: parts[1], b: parts[2], a: parts.length > 3 ? parts[3] : 1 };
  }
  function luminance(c) {
    function part(v) { v /= 255; return v <= .03928 ? v / 12.92 : Math.pow((v + .055) / 1.055, 2.4); }
    return .2126 * part(c.r) + .7152 * part(c.g) + .0722 * part(c.b);
  }
  function ratio(a, b) {
    var x = luminance(a), y = luminance(b);
    return (Math.max(x, y) + .05) / (Math.min(x, y) + .05);
  }
  function groundOf(node) {
    for (; node; node = node.parentElement) {
      var ground = parse(getComputedStyle(node).backgroundColor);
      if (ground && ground.a > .99) return ground;
    }
    return { r: 255, g: 255, b: 255, a: 1 };
  }
  function checkContrast(theme) {
    var lowest = 99, pairs = {};
    all("body *").forEach(function (node) {
      var own = Array.from(node.childNodes).some(function (child) { return child.nodeType === 3 && child.textContent.trim(); });
      if (!own || !visible(node) || node.closest("script, style")) return;
      var style = getComputedStyle(node), svg = node.closest("svg") !== null;
      if (svg && node.classList.contains("label")) return;  // stands on its bar: see below
      var text = parse(svg ? style.fill : style.color), ground = groundOf(svg ? node.closest("svg").parentElement : node);
      if (!text) return;
      var key = [style.color, style.fill, ground.r, ground.g, ground.b].join();
      if (pairs[key]) return;
      pairs[key] = true;
      var found = ratio(text, ground);
      lowest = Math.min(lowest, found);
      expect(found >= 4.5, "contrast " + found.toFixed(2) + " in the " + theme + " theme: " + describe(node));
    });
    // Words on bars: the colours are variables of the style.
    var probe = document.createElement("span");
    document.body.appendChild(probe);
    function variable(name) { probe.style.color = "var(--" + name + ")"; return parse(getComputedStyle(probe).color); }
    ["compute", "comm", "copy", "memset", "graph", "range", "operator", "call", "os", "gap"].forEach(function (kind) {
      var ground = variable(kind);
      var best = ratio(variable("on-event"), ground);
      expect(best >= 4, "words on " + kind + " events: " + best.toFixed(2) + " in the " + theme + " theme");
    });
    ["compute", "comm", "copy", "memset"].forEach(function (state) {
      expect(ratio(variable("on-state"), variable(state)) >= 3, "words on " + state + " in the " + theme + " theme");
    });
    ["compute", "comm", "copy", "memset", "graph"].forEach(function (kind) {
      expect(ratio(variable(kind), variable("panel")) >= 2.4, "marks of " + kind + " fade in the " + theme + " theme");
    });
    probe.remove();
    facts["lowest_contrast_" + theme] = Number(lowest.toFixed(2));
  }

  // ---- the page in use
  function input(node, value) {
    node.value = value;
    node.dispatchEvent(new Event("input", { bubbles: true }));
  }
  function useFilters() {
    var findings = all("details.finding");
    facts.findings = findings.length;
    if (findings.length < 2) return;
    function shown() { return findings.filter(function (finding) { return !finding.hidden; }).length; }
    var search = document.getElementById("find"), severity = document.getElementById("severity");
    input(search, "no such words anywhere");
    expect(shown() === 0, "the search hides nothing");
    var title = findings[1].querySelector("h3").textContent;
    input(search, title.toUpperCase());
    expect(shown() >= 1 && !findings[1].hidden, "the search does not find a title");
    input(search, "");
    expect(shown() === findings.length, "an empty search hides findings");
    var wanted = findings[findings.length - 1].getAttribute("data-severity");
    input(severity, wanted);
    expect(shown() === findings.filter(function (f) { return f.getAttribute("data-severity") === wanted; }).length, "the filter of severities is wrong");
    input(severity, "");
    document.getElementById("close-all").click();
    expect(findings.every(function (finding) { return !finding.open; }), "not all are closed");
    location.hash = "#" + findings[1].id;
  }
  function useKernels(data) {
    var table = document.querySelector("#kernel-table table");
    facts.kernels = data.kernels ? data.kernels.length : 0;
    if (!facts.kernels) return;
    function cells(column) { return all("tbody tr", table).map(function (row) { return row.children[column].textContent; }); }
    function numbers(column) { return cells(column).map(function (text) { return Number(text.replace(/,/g, "")); }); }
    var first = window.innerWidth < 640 && facts.kernels > 18 ? 12 : 100;
    expect(cells(0).length === Math.min(first, facts.kernels), "not the first " + first + " kernels");
    var head = all("thead button", table)[2];
    head.click();
    expect(numbers(2).every(function (v, at, list) { return at === 0 || list[at - 1] >= v; }), "not sorted by count");
    expect(head.parentElement.getAttribute("aria-sort") === "descending", "the order is not said");
    head.click();
    expect(numbers(2).every(function (v, at, list) { return at === 0 || list[at - 1] <= v; }), "not sorted the other way");
    var start = data.kernels[0][0].replace(/^void /, "").slice(0, 12).toLowerCase();
    input(document.getElementById("kernel-find"), start);
    expect(cells(0).length > 0 && cells(0).every(function (text) { return text.toLowerCase().indexOf(start) >= 0; }), "the search for kernels is wrong");
    input(document.getElementById("kernel-find"), "");
    all("#kernel-table > button").forEach(function (more) { if (!more.hidden) more.click(); });
    expect(cells(0).length === facts.kernels, "not all kernels are shown");
  }
  function useTimelines(data) {
    facts.timelines = (data.timelines || []).length;
    facts.timeline_marks = all(".timeline svg .event").length;
    expect(all(".timeline[data-drawn] svg").length === facts.timelines, "timelines drawn: " + all(".timeline[data-drawn] svg").length + " of " + facts.timelines);
    if (!facts.timelines) return;
    var host = document.querySelector(".timeline[data-drawn]"), svg = host.querySelector("svg");
    function widths() { return all(".event", svg).map(function (bar) { return bar.getAttribute("x") + "/" + bar.getAttribute("width"); }).join(); }
    var before = widths();
    all(".tools button", host)[1].click();
    var zoomed = widths();
    expect(zoomed !== before, "zooming changes nothing");
    svg.dispatchEvent(new KeyboardEvent("keydown", { key: "0", bubbles: true }));
    expect(widths() === before, "the key 0 does not reset the zoom");
  }
  function useTheme() {
    var button = document.getElementById("theme"), root = document.documentElement;
    var pressed = button.getAttribute("aria-pressed");
    button.click();
    expect(button.getAttribute("aria-pressed") !== pressed, "the theme does not change");
    return root.getAttribute("data-theme");
  }

  // What does not fit scrolls or is cut: words of a table, of a list or of a heading must not be. Folders of a path may be.
  function checkCut() {
    all("body *").forEach(function (node) {
      if (!visible(node) || node.closest("svg, pre, .skip, .folders, .budget, .canvas") || getComputedStyle(node).overflowX === "visible") return;
      expect(node.scrollWidth <= node.clientWidth + 1, "cut or scrolls sideways, " + node.scrollWidth + " in " + node.clientWidth + ": " + describe(node));
    });
    all(".budgets").forEach(function (list) { expect(list.scrollHeight <= list.clientHeight + 1, "cut: " + describe(list)); });
  }

  function finish() {
    facts.errors = window.adviseErrors || [];
    facts.resources = performance.getEntriesByType("resource").length;
    facts.overflow = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    facts.wide = facts.overflow <= 0 ? [] : all("body *").filter(function (node) {
      return visible(node) && node.getBoundingClientRect().right > window.innerWidth + 1 && !node.closest("pre, .scroll, svg");
    }).slice(0, 8).map(describe);
    var pre = document.createElement("pre");
    pre.id = "selftest";
    pre.textContent = JSON.stringify({ problems: problems, facts: facts });
    document.body.appendChild(pre);
    // In a frame as wide as a phone: browsers open no windows that narrow.
    if (window.parent !== window) window.parent.postMessage(pre.textContent, "*");
  }

  function run() {
    var data = JSON.parse(document.getElementById("data").textContent);
    expect(document.documentElement.getAttribute("data-ready") === "yes", "the page's scripts did not finish");
    ["steps", "copies", "samples", "lateness", "roofline"].forEach(function (id) {
      facts[id + "_marks"] = all("#" + id + " .bar-mark").length;
    });
    useFilters();
    useKernels(data);
    document.getElementById("open-all").click();
    setTimeout(function () {
      useTimelines(data);
      all("details").forEach(function (details) { details.open = true; });
      // Findings off the screen are laid out late; here all must be.
      all(".finding").forEach(function (finding) { finding.style.contentVisibility = "visible"; });
      checkCut();
      checkNames();
      checkStructure();
      checkContrast(document.documentElement.getAttribute("data-theme") || "first");
      checkContrast(useTheme());
      finish();
    }, 300);
  }
  try {
    run();
  } catch (thrown) {
    problem("the check stopped: " + thrown.stack);
    finish();
  }
})();
