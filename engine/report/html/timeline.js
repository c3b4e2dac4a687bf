// A small timeline around the worst example of a finding: gaps, streams, host threads.
var kindWords = {
  range: "range", operator: "operator", call: "runtime call", os: "OS call", compute: "kernel", comm: "communication kernel",
  copy: "copy", memset: "memset", graph: "graph", gap: "idle",
  wait: "waiting for other ranks"
};

// Events come as arrays: start, length, kind, name, depth, count, bytes, detail, call.
function readEvent(list) {
  return {
    start: list[0], length: list[1], kind: data.names[list[2]], name: data.names[list[3]], depth: list[4],
    count: list[5], bytes: list[6], detail: data.names[list[7]], call: list.length > 8 ? list[8] : -1
  };
}

function eventName(event) {
  var name = event.name || kindWords[event.kind] + "s";
  return event.count > 1 ? countText(event.count) + " \u00d7 " + name : name;
}

function eventText(event, timeline) {
  var text = eventName(event) + "\n" + kindWords[event.kind] + ", " + timeText(event.length) + ", at " +
    ((timeline.origin + event.start) / 1e9).toFixed(6) + " s";
  if (event.bytes >= 0) text += ", " + bytesText(event.bytes);
  if (event.bytes > 0 && event.length > 0) text += " (" + bytesText(event.bytes * 1e9 / event.length) + "/s)";
  if (event.detail) text += "\n" + event.detail;
  return text;
}

function drawTimeline(host, timeline) {
  var lane = 17, gapBelowRow = 5, nameHeight = 15, top = 34;
  var rows = timeline.rows.map(function (row) {
    return { name: row.name, depth: Math.min(row.depth, 6), events: row.events.map(readEvent) };
  });
  var height = top;
  rows.forEach(function (row) {
    row.y = height + nameHeight;
    row.events = row.events.filter(function (event) { return event.depth < row.depth; });
    height = row.y + row.depth * lane + gapBelowRow;
  });
  var byCall = {};
  rows.forEach(function (row) {
    row.events.forEach(function (event) {
      event.y = row.y + event.depth * lane;
      if (event.call < 0) return;
      (byCall[event.call] = byCall[event.call] || []).push(event);
    });
  });

  var what = timeline.what || "the longest time that this finding claims";
  var words = what.charAt(0).toUpperCase() + what.slice(1) + ": " + timeText(timeline.to - timeline.from) + ", at " +
    ((timeline.origin + timeline.from) / 1e9).toFixed(6) + " s of the trace";
  var tools = element("div", { "class": "tools" });
  tools.appendChild(element("p", { "class": "caption" }, words));
  host.appendChild(tools);
  if (timeline.note) host.appendChild(element("p", { "class": "note" }, timeline.note));
  var canvas = element("div", { "class": "canvas" });
  host.appendChild(canvas);
  var svg = d3.select(canvas).append("svg").attr("role", "img").attr("tabindex", 0).attr("height", height + 4)
    .attr("aria-label", "Timeline. " + words + ". Arrow keys move, plus and minus zoom, 0 resets; the events are listed below.");

  var width = 600;
  var full = [0, timeline.length];
  var x = d3.scaleLinear().domain(full);
  var grounds = svg.append("g");
  var mark = svg.append("rect").attr("class", "mark").attr("y", 20).attr("height", height - 20);
  var axis = svg.append("g").attr("transform", "translate(0,20)");
  var marks = svg.append("g");
  var names = svg.append("g");
  var edges = svg.append("g");
  var flows = svg.append("g");
  rows.forEach(function (row) {
    grounds.append("rect").attr("class", "row-ground").attr("x", 0).attr("y", row.y - 1).attr("height", row.depth * lane + 1);
    names.append("text").attr("class", "row-name").attr("x", 6).attr("y", row.y - 4).text(row.name);
  });
  var all = d3.merge(rows.map(function (row) { return row.events; }));
  var bars = marks.selectAll("rect").data(all).enter().append("rect")
    .attr("class", function (event) { return "event f-" + event.kind; })
    .attr("y", function (event) { return event.y; }).attr("height", lane - 2).attr("rx", 2);
  var labels = marks.selectAll("text").data(all).enter().append("text").attr("class", "label")
    .attr("y", function (event) { return event.y + 11.5; });

  function flowOf(event) {
    flows.selectAll("path").remove();
    var ends = event && event.call >= 0 ? byCall[event.call] : [];
    var call = ends.filter(function (end) { return end.kind === "call"; })[0];
    if (!call) return;
    ends.forEach(function (end) {
      if (end === call) return;
      var x0 = x(call.start + call.length / 2), x1 = x(end.start), middle = (call.y + end.y) / 2;
      flows.append("path").attr("class", "flow")
        .attr("d", "M" + x0 + "," + call.y + " C" + x0 + "," + middle + " " + x1 + "," + middle + " " + x1 + "," + (end.y + lane - 2));
    });
  }
  bars.on("mousemove", function (event) { tip.show(eventText(event, timeline), d3.event); flowOf(event); })
    .on("mouseleave", function () { tip.hide(); flowOf(null); });

  function paint() {
    x.range([0, width]);
    svg.attr("viewBox", "0 0 " + width + " " + (height + 4));
    grounds.selectAll("rect").attr("width", width);
    axis.call(timeAxis(d3.axisTop(x).ticks(Math.max(3, Math.round(width / 130))).tickSize(4), x));
    axis.selectAll("text").attr("text-anchor", function () {
      return d3.select(this.parentNode).attr("transform").indexOf("translate(0") === 0 ? "start" : "middle";
    });
    function left(event) { return Math.max(-2, x(event.start)); }
    function right(event) { return Math.min(width + 2, x(event.start + event.length)); }
    bars.attr("x", left)
      .attr("width", function (event) { return Math.max(.8, right(event) - left(event)); })
      .attr("display", function (event) { return right(event) < 0 || left(event) > width ? "none" : null; });
    labels.attr("x", function (event) { return Math.max(3, left(event) + 4); })
      .text(function (event) {
        var room = Math.floor((Math.min(width, right(event)) - Math.max(0, left(event)) - 8) / 6.1);
        var name = eventName(event);
        if (room < 4) return "";
        return name.length <= room ? name : name.slice(0, room - 1) + "\u2026";
      });
    var a = x(timeline.from), b = x(timeline.to);
    mark.attr("x", a).attr("width", Math.max(1, b - a));
    edges.selectAll("line").data([a, b]).join("line").attr("class", "mark-edge")
      .attr("x1", function (d) { return d; }).attr("x2", function (d) { return d; }).attr("y1", 20).attr("y2", height);
    flowOf(null);
  }

  function look(from, to) {
    var shortest = Math.max(20, timeline.length / 5000);
    if (to - from < shortest) {
      var middle = (from + to) / 2;
      from = middle - shortest / 2;
      to = middle + shortest / 2;
    }
    if (to - from > full[1]) { from = 0; to = full[1]; }
    if (from < 0) { to -= from; from = 0; }
    if (to > full[1]) { from -= to - full[1]; to = full[1]; }
    x.domain([Math.max(0, from), to]);
    paint();
  }
  function zoom(factor, share) {
    var now = x.domain(), fixed = now[0] + (now[1] - now[0]) * (share === undefined ? .5 : share);
    look(fixed - (fixed - now[0]) * factor, fixed + (now[1] - fixed) * factor);
  }
  function move(share) {
    var now = x.domain(), by = (now[1] - now[0]) * share;
    look(Math.min(now[0] + by, full[1] - (now[1] - now[0])), Math.min(now[1] + by, full[1]));
  }
  [["\u2212", "Zoom out", function () { zoom(2); }], ["+", "Zoom in", function () { zoom(.5); }],
   ["\u2190", "Move left", function () { move(-.3); }], ["\u2192", "Move right", function () { move(.3); }],
   ["Reset", "Show all of the timeline", function () { look(full[0], full[1]); }]].forEach(function (tool) {
    var button = element("button", { type: "button", "aria-label": tool[1], title: tool[1] }, tool[0]);
    button.addEventListener("click", tool[2]);
    tools.appendChild(button);
  });
  svg.on("keydown", function () {
    var act = { ArrowLeft: function () { move(-.2); }, ArrowRight: function () { move(.2); }, "+": function () { zoom(.6); },
      "=": function () { zoom(.6); }, "-": function () { zoom(1.6); }, "0": function () { look(full[0], full[1]); } }[d3.event.key];
    if (act) { d3.event.preventDefault(); act(); }
  });
  // The wheel scrolls the page; with Ctrl it zooms, as in other viewers.
  svg.on("wheel", function () {
    if (!d3.event.ctrlKey) return;
    d3.event.preventDefault();
    zoom(d3.event.deltaY > 0 ? 1.25 : .8, d3.mouse(svg.node())[0] / width);
  });
  var held = null;
  svg.call(d3.drag().filter(function () { return !d3.event.button; })
    .on("start", function () { held = [d3.event.x].concat(x.domain()); })
    .on("drag", function () {
      var by = (held[0] - d3.event.x) / width * (held[2] - held[1]);
      by = Math.max(-held[1], Math.min(by, full[1] - held[2]));
      look(held[1] + by, held[2] + by);
    }));

  addTimelineLegend(host, all, timeline);
  new ResizeObserver(function () {
    var now = Math.round(canvas.clientWidth);
    if (now > 0 && now !== width) { width = now; paint(); }
  }).observe(canvas);
  width = Math.round(canvas.clientWidth) || 600;
  paint();
}

// What the colours mean, and the longest events in words for those who cannot see or point.
function addTimelineLegend(host, events, timeline) {
  var legend = element("ul", { "class": "legend" });
  Object.keys(kindWords).forEach(function (kind) {
    if (!events.some(function (event) { return event.kind === kind; })) return;
    var item = element("li");
    item.appendChild(element("span", { "class": "swatch b-" + kind }));
    item.appendChild(document.createTextNode(kindWords[kind]));
    legend.appendChild(item);
  });
  host.appendChild(legend);
  var more = element("details");
  var title = "The longest events as a list";
  if (timeline.left_out > 0) title += " (" + countText(timeline.left_out) + " short ones are left out of the picture)";
  more.appendChild(element("summary", {}, title));
  var list = element("ol");
  events.slice().sort(function (a, b) { return b.length - a.length; }).slice(0, 25).forEach(function (event) {
    list.appendChild(element("li", {}, eventText(event, timeline).replace(/\n/g, "; ")));
  });
  more.appendChild(list);
  host.appendChild(more);
}
