// Shared by the scripts of the page: the data, words for quantities, the tooltip, copying, the theme.
var data = JSON.parse(document.getElementById("data").textContent);

function trimmed(value) {
  return String(Number(value.toPrecision(3)));
}
function timeText(ns) {
  var size = Math.abs(ns);
  if (size === 0) return "0";
  if (size >= 1e9) return trimmed(ns / 1e9) + " s";
  if (size >= 1e6) return trimmed(ns / 1e6) + " ms";
  if (size >= 1e3) return trimmed(ns / 1e3) + " \u00b5s";
  return trimmed(ns) + " ns";
}
function scaledText(value, units, step) {
  var at = 0;
  while (at + 1 < units.length && Math.abs(value) >= step) {
    value /= step;
    ++at;
  }
  return trimmed(value) + " " + units[at];
}
function bytesText(bytes) {
  return scaledText(bytes, ["B", "kB", "MB", "GB", "TB"], 1000);
}
function flopsText(flops) {
  return scaledText(flops, ["FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s"], 1000);
}
function countText(count) {
  return count.toLocaleString("en");
}

function element(tag, attributes, text) {
  var made = document.createElement(tag);
  Object.keys(attributes || {}).forEach(function (name) {
    made.setAttribute(name, attributes[name]);
  });
  if (text !== undefined) made.textContent = text;
  return made;
}

// Ticks of time, all in the unit of the largest.
function timeAxis(axis, scale) {
  var most = Math.max(Math.abs(scale.domain()[0]), Math.abs(scale.domain()[1]));
  var unit = most >= 1e9 ? [1e9, "s"] : most >= 1e6 ? [1e6, "ms"] : most >= 1e3 ? [1e3, "\u00b5s"] : [1, "ns"];
  var ticks = axis.ticks()[0] || 6;
  var inner = d3.scaleLinear().domain(scale.domain().map(function (v) { return v / unit[0]; }));
  var format = inner.tickFormat(ticks);
  return axis.tickValues(inner.ticks(ticks).map(function (v) { return v * unit[0]; }))
    .tickFormat(function (v) { return format(v / unit[0]) + " " + unit[1]; });
}

var tip = {
  node: document.getElementById("tip"),
  show: function (text, event) {
    this.node.textContent = text;
    this.node.hidden = false;
    var box = this.node.getBoundingClientRect();
    var x = Math.min(event.clientX + 14, window.innerWidth - box.width - 8);
    var y = event.clientY + 16 + box.height > window.innerHeight ? event.clientY - box.height - 10 : event.clientY + 16;
    this.node.style.left = Math.max(8, x) + "px";
    this.node.style.top = Math.max(8, y) + "px";
  },
  hide: function () { this.node.hidden = true; },
  // Shows what `text` says of a mark's datum while the pointer is on it.
  on: function (selection, text) {
    var self = this;
    selection.on("mousemove", function (datum) { self.show(text(datum), d3.event); })
      .on("mouseleave", function () { self.hide(); });
  }
};

function copyText(text, button) {
  function done(worked) {
    button.textContent = worked ? "Copied" : "Press Ctrl+C";
    setTimeout(function () { button.textContent = "Copy"; }, 1600);
  }
  function byHand() {
    var area = element("textarea", { "aria-label": "text to copy", style: "position:fixed;opacity:0" });
    area.value = text;
    document.body.appendChild(area);
    area.select();
    var worked = false;
    try { worked = document.execCommand("copy"); } catch (refused) { worked = false; }
    area.remove();
    button.focus();
    done(worked);
  }
  if (navigator.clipboard && window.isSecureContext) {
    navigator.clipboard.writeText(text).then(function () { done(true); }, byHand);
  } else {
    byHand();
  }
}

function setUpCopying() {
  document.querySelectorAll("button.copy").forEach(function (button) {
    var label = button.parentNode.firstChild.textContent.trim();
    button.setAttribute("aria-label", "Copy " + label);
    button.hidden = false;
  });
  document.addEventListener("click", function (event) {
    var button = event.target.closest && event.target.closest("button.copy");
    if (button) copyText(button.closest("figure").querySelector("code").textContent, button);
  });
}

function setUpTheme() {
  var button = document.getElementById("theme");
  var root = document.documentElement;
  function stored(value) {
    try {
      if (value !== undefined) localStorage.setItem("advise-theme", value);
      return localStorage.getItem("advise-theme");
    } catch (refused) {
      return value;  // a browser may keep pages from files from storing anything
    }
  }
  function dark() {
    var theme = root.getAttribute("data-theme");
    return theme ? theme === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
  }
  function show() {
    button.setAttribute("aria-pressed", String(dark()));
  }
  var before = stored();
  if (before === "dark" || before === "light") root.setAttribute("data-theme", before);
  button.addEventListener("click", function () {
    var next = dark() ? "light" : "dark";
    root.setAttribute("data-theme", next);
    stored(next);
    show();
  });
  show();
}
