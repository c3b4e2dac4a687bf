// The charts of the run: step times, copy sizes, samples, lateness of ranks, roofline.
function chartPanel(list, id, title, about) {
  var panel = element("section", { "class": "panel chart", id: id, "aria-labelledby": id + "-title" });
  panel.appendChild(element("h3", { id: id + "-title" }, title));
  panel.appendChild(element("p", { "class": "about" }, about));
  list.appendChild(panel);
  return panel;
}

// Calls `paint(svg, width)` now and whenever the width changes. `words` say what the picture shows.
function responsive(panel, height, words, paint) {
  var holder = element("div");
  panel.appendChild(holder);
  var svg = d3.select(holder).append("svg").attr("role", "img").attr("aria-label", words).attr("height", height);
  var width = 0;
  function again() {
    var now = Math.round(holder.clientWidth);
    if (now <= 0 || now === width) return;
    width = now;
    svg.selectAll("*").remove();
    svg.attr("viewBox", "0 0 " + width + " " + height);
    paint(svg, width);
  }
  new ResizeObserver(again).observe(holder);
  again();
}

function yAxis(svg, y, left, right, format, ticks) {
  svg.append("g").attr("class", "grid").attr("transform", "translate(" + left + ",0)")
    .call(d3.axisLeft(y).ticks(ticks || 4).tickSize(-(right - left)).tickFormat(""));
  svg.append("g").attr("transform", "translate(" + left + ",0)").call(d3.axisLeft(y).ticks(ticks || 4).tickFormat(format).tickSize(0));
}
function axisTitle(svg, x, y, text, anchor) {
  svg.append("text").attr("x", x).attr("y", y).attr("text-anchor", anchor || "start").text(text);
}
// Round numbers for an axis of decades, at most so many: 1, 2 and 5 of each decade, or else powers of ten.
function logTicks(domain, most) {
  var from = Math.floor(Math.log10(domain[0])), to = Math.ceil(Math.log10(domain[1]));
  function marks(digits, every) {
    var values = [];
    for (var power = Math.ceil(from / every) * every; power <= to; power += every) {
      digits.forEach(function (digit) { values.push(digit * Math.pow(10, power)); });
    }
    return values.filter(function (v) { return v >= domain[0] && v <= domain[1]; });
  }
  var fine = marks([1, 2, 5], 1);
  if (fine.length <= most) return fine;
  for (var every = 1; ; ++every) {
    var powers = marks([1], every);
    if (powers.length <= Math.max(2, most)) return powers;
  }
}

// Of several reports, some charts show one of them only.
function chartsOf() {
  return data.charts_of ? " of " + data.charts_of : "";
}

function drawSteps(list) {
  if (!data.steps.length) return;
  var points = data.steps.map(function (p) {
    return { first: p[0], count: p[1], median: p[3], most: p[4], warmup: p[5] === 1, outlier: p[6] === 1 };
  });
  var all = data.called, one = all.slice(0, -1);   // "steps", "iterations", "requests" or "tokens"
  var grouped = points.some(function (p) { return p.count > 1; });
  var panel = chartPanel(list, "steps", "Time of each " + one,
    "Bars of the warm-up are gray and were not analyzed. What stands out is orange." +
    (data.charts_of ? " Each " + one + " is as long as on its slowest rank." : "") +
    (grouped ? " Several " + all + " share a bar: its height is their median, the line above it the longest." : ""));
  var longest = d3.max(points, function (p) { return p.most; });
  var last = points[points.length - 1];
  var steps = last.first + last.count;
  responsive(panel, 190, countText(steps) + " " + all + "; the longest took " + timeText(longest), function (svg, width) {
    var left = 62, right = width - 8, bottom = 158;
    var x = d3.scaleLinear().domain([0, steps]).range([left, right]);
    var y = d3.scaleLinear().domain([0, longest * 1.05]).range([bottom, 10]);
    yAxis(svg, y, left, right, timeText);
    svg.append("g").attr("transform", "translate(0," + bottom + ")").call(d3.axisBottom(x).ticks(Math.min(steps, width / 90)).tickFormat(d3.format("d")).tickSizeOuter(0));
    axisTitle(svg, right, 188, one, "end");
    var pause = (right - left) / points.length > 4 ? 1 : 0;
    var bars = svg.append("g").selectAll("rect").data(points).enter().append("rect")
      .attr("class", function (p) { return "event bar-mark " + (p.outlier ? "f-copy" : p.warmup ? "f-gap" : "f-compute"); })
      .attr("x", function (p) { return x(p.first); })
      .attr("width", function (p) { return Math.max(.5, x(p.first + p.count) - x(p.first) - pause); })
      .attr("y", function (p) { return y(p.median); })
      .attr("height", function (p) { return bottom - y(p.median); });
    svg.append("g").selectAll("line").data(points.filter(function (p) { return p.most > p.median; })).enter().append("line")
      .attr("class", "mark-edge").style("stroke-dasharray", "none")
      .attr("x1", function (p) { return x(p.first + p.count / 2); }).attr("x2", function (p) { return x(p.first + p.count / 2); })
      .attr("y1", function (p) { return y(p.median); }).attr("y2", function (p) { return y(p.most); });
    tip.on(bars, function (p) {
      return (p.count > 1 ? all + " " + p.first + " to " + (p.first + p.count - 1) : one + " " + p.first) + ": " + timeText(p.median) +
        (p.count > 1 ? " (longest " + timeText(p.most) + ")" : "") + (p.warmup ? "\nwarm-up, not judged" : "") + (p.outlier ? "\nstands out" : "");
    });
  });
  var legend = element("ul", { "class": "legend" });
  [["b-compute", one, true], ["b-gap", "warm-up", points.some(function (p) { return p.warmup; })],
   ["b-copy", "stands out", points.some(function (p) { return p.outlier; })]].forEach(function (pair) {
    if (!pair[2]) return;
    var item = element("li");
    item.appendChild(element("span", { "class": "swatch " + pair[0] }));
    item.appendChild(document.createTextNode(pair[1]));
    legend.appendChild(item);
  });
  panel.appendChild(legend);
}

function sizeText(from) {
  return from === 0 ? "0 B" : scaledText(from, ["B", "KiB", "MiB", "GiB"], 1024);
}

function drawCopies(list) {
  if (!data.copies.length) return;
  var bins = data.copies.map(function (b) { return { direction: b[0], from: b[1], count: b[2], bytes: b[3], time: b[4] }; });
  var directions = bins.map(function (b) { return b.direction; }).filter(function (d, at, all) { return all.indexOf(d) === at; });
  var sizes = bins.map(function (b) { return b.from; }).filter(function (s, at, all) { return all.indexOf(s) === at; }).sort(d3.ascending);
  var classes = ["f-copy", "f-compute", "f-comm", "f-memset", "f-graph", "f-range", "f-os", "f-call", "f-gap"];
  var panel = chartPanel(list, "copies", "Sizes of copies" + chartsOf(),
    "How much time copies of each size take in the window. Many small copies cost more than their bytes.");
  var most = d3.max(bins, function (b) { return b.time; });
  responsive(panel, 220, "Copies by size and direction; " + countText(d3.sum(bins, function (b) { return b.count; })) + " copies in all", function (svg, width) {
    var left = 62, right = width - 8, bottom = 178;
    var x = d3.scaleBand().domain(sizes).range([left, right]).padding(.15);
    // A few sizes are no reason for bars as wide as the page.
    var wide = Math.min(x.bandwidth(), 34 * directions.length), aside = (x.bandwidth() - wide) / 2;
    var inner = d3.scaleBand().domain(directions).range([aside, aside + wide]).padding(.05);
    var y = d3.scaleLinear().domain([0, most * 1.05]).range([bottom, 10]);
    yAxis(svg, y, left, right, timeText);
    var every = Math.ceil(sizes.length / Math.max(1, width / 70));
    svg.append("g").attr("transform", "translate(0," + bottom + ")")
      .call(d3.axisBottom(x).tickValues(sizes.filter(function (s, at) { return at % every === 0; })).tickFormat(sizeText).tickSizeOuter(0));
    axisTitle(svg, right, 214, "bytes of a copy, from", "end");
    var bars = svg.append("g").selectAll("rect").data(bins).enter().append("rect")
      .attr("class", function (b) { return "event bar-mark " + classes[directions.indexOf(b.direction) % classes.length]; })
      .attr("x", function (b) { return x(b.from) + inner(b.direction); }).attr("width", inner.bandwidth())
      .attr("y", function (b) { return Math.min(bottom - 1, y(b.time)); }).attr("height", function (b) { return Math.max(1, bottom - y(b.time)); });
    tip.on(bars, function (b) {
      return b.direction + ", " + sizeText(b.from) + " and up\n" + countText(b.count) + " copies, " + bytesText(b.bytes) + " in " + timeText(b.time) +
        (b.time > 0 ? " (" + bytesText(b.bytes * 1e9 / b.time) + "/s)" : "");
    });
  });
  var legend = element("ul", { "class": "legend" });
  directions.forEach(function (direction, at) {
    var item = element("li");
    item.appendChild(element("span", { "class": "swatch " + classes[at % classes.length].replace("f-", "b-") }));
    item.appendChild(document.createTextNode(direction));
    legend.appendChild(item);
  });
  panel.appendChild(legend);
}

function drawSamples(list) {
  var series = data.samples;
  if (!series.length) return;
  var panel = chartPanel(list, "samples", "Samples over time" + chartsOf(), "What the profiler sampled, as averages over equal parts of the window.");
  var first = 12;
  function add(one) {
    var most = d3.max(one.mean), text = one.name + (one.source ? ", " + one.source : "");
    var percent = one.unit === "percent" || one.unit === "%";
    function say(value) {
      return percent ? trimmed(value) + " %" : one.unit === "bytes" ? bytesText(value) : trimmed(value) + (one.unit ? " " + one.unit : "");
    }
    responsive(panel, 74, text + "; highest mean " + say(most), function (svg, width) {
      var left = 62, right = width - 8, bottom = 58;
      var x = d3.scaleLinear().domain([0, one.mean.length * one.bucket]).range([left, right]);
      var y = d3.scaleLinear().domain([0, percent ? Math.max(100, most) : most || 1]).range([bottom, 18]);
      svg.append("text").attr("class", "strong").attr("x", left).attr("y", 11).text(text);
      yAxis(svg, y, left, right, say, 2);
      svg.append("g").attr("transform", "translate(0," + bottom + ")").call(timeAxis(d3.axisBottom(x).ticks(Math.round(width / 110)).tickSizeOuter(0), x));
      var area = d3.area().defined(function (v) { return v !== null; })
        .x(function (v, at) { return x((at + .5) * one.bucket); }).y0(bottom).y1(function (v) { return y(v); });
      // Coarse samples leave most stretches without one: a mark each shows them.
      svg.append("path").attr("class", "bar-mark f-compute").attr("opacity", .55).attr("d", area(one.mean));
      svg.append("g").selectAll("circle").data(one.mean.map(function (v, at) { return [at, v]; }).filter(function (d) {
        return d[1] !== null && (one.mean[d[0] - 1] === null || one.mean[d[0] - 1] === undefined) && (one.mean[d[0] + 1] === null || one.mean[d[0] + 1] === undefined);
      })).enter().append("circle").attr("class", "f-compute").attr("r", 1.6)
        .attr("cx", function (d) { return x((d[0] + .5) * one.bucket); }).attr("cy", function (d) { return y(d[1]); });
      var ground = svg.append("rect").attr("x", left).attr("y", 14).attr("width", right - left).attr("height", bottom - 14).attr("fill", "transparent");
      ground.on("mousemove", function () {
        var at = Math.floor(x.invert(d3.mouse(this)[0]) / one.bucket), value = one.mean[at];
        if (value === null || value === undefined) { tip.hide(); return; }
        tip.show(text + "\n" + say(value) + " at " + timeText(at * one.bucket), d3.event);
      }).on("mouseleave", function () { tip.hide(); });
    });
  }
  series.slice(0, first).forEach(add);
  if (series.length <= first) return;
  var more = element("button", { type: "button" }, "Show the other " + (series.length - first) + " series");
  panel.appendChild(more);
  more.addEventListener("click", function () { more.remove(); series.slice(first).forEach(add); });
}

function drawLateness(list) {
  var matrix = data.lateness;
  if (!matrix.rows.length) return;
  var means = matrix.rows.map(function (row) { return d3.mean(row.filter(function (v) { return v !== null; })) || 0; });
  var worst = d3.scan(means, d3.descending);
  var panel = chartPanel(list, "lateness", "Ranks that are late at collectives",
    "How long after the first rank each rank started its collectives, averaged per step. A row that is dark throughout is a straggler: the others wait for it.");
  var cells = [];
  matrix.rows.forEach(function (row, r) { row.forEach(function (v, c) { cells.push({ r: r, c: c, v: v }); }); });
  var most = d3.max(cells, function (cell) { return cell.v; }) || 1;
  var tall = Math.max(5, Math.min(22, 480 / matrix.rows.length));
  var height = matrix.rows.length * tall + 46;
  responsive(panel, height, matrix.names[worst] + " is latest: " + timeText(means[worst]) + " on average", function (svg, width) {
    var left = 70, right = width - 8;
    var x = d3.scaleBand().domain(d3.range(matrix.steps.length)).range([left, right]);
    var y = d3.scaleBand().domain(d3.range(matrix.rows.length)).range([6, 6 + matrix.rows.length * tall]);
    var color = function (v) { return .06 + .94 * Math.sqrt(v / most); };
    var marks = svg.append("g").selectAll("rect").data(cells).enter().append("rect").attr("class", "event bar-mark")
      .attr("x", function (cell) { return x(cell.c); }).attr("y", function (cell) { return y(cell.r); })
      .attr("width", x.bandwidth()).attr("height", y.bandwidth())
      .attr("class", function (cell) { return "event bar-mark " + (cell.v === null ? "row-ground" : "f-copy"); })
      .attr("fill-opacity", function (cell) { return cell.v === null ? .4 : color(cell.v); });
    tip.on(marks, function (cell) {
      return matrix.names[cell.r] + ", step " + matrix.steps[cell.c] + ": " + (cell.v === null ? "no collectives" : timeText(cell.v) + " late");
    });
    var each = Math.ceil(matrix.rows.length / (matrix.rows.length * tall / 14));
    svg.append("g").attr("transform", "translate(" + left + ",0)")
      .call(d3.axisLeft(y).tickValues(d3.range(0, matrix.rows.length, each)).tickFormat(function (r) { return matrix.names[r]; }).tickSize(0));
    var every = Math.ceil(matrix.steps.length / Math.max(1, width / 50));
    svg.append("g").attr("transform", "translate(0," + (height - 38) + ")")
      .call(d3.axisBottom(x).tickValues(d3.range(0, matrix.steps.length, every)).tickFormat(function (c) { return matrix.steps[c]; }).tickSizeOuter(0));
    axisTitle(svg, right, height - 4, "step; the darkest is " + timeText(most), "end");
  });
}

function drawRoofline(list) {
  var roof = data.roofline;
  if (!roof.points.length) return;
  var points = roof.points.map(function (p) { return { name: p[0], x: p[1], y: p[2], time: p[3] }; });
  var roofs = roof.roofs.map(function (r) { return { peak: r[0], rate: r[1], ridge: r[0] / r[1] }; });
  var what = roof.estimated ? "operators" : "kernels";
  var without = countText(roof.without_place) + (roof.estimated ?
    " operators are not shown: their arithmetic or its peak on this GPU is not known." :
    " counted kernels are not shown: their work or traffic was not counted.");
  var panel = chartPanel(list, "roofline", "Roofline" + (roof.estimated ? ", estimated from shapes" : "") + chartsOf(),
    (roof.estimated ? "Operators by the shapes of their inputs: an estimate of their arithmetic and of the least bytes that they move." : "Kernels with hardware counters.") +
    " Below the slope memory limits them, below the flat part arithmetic does; the distance to the line is the headroom." +
    (roof.without_place ? " " + without : "") +
    (roof.left_out ? " " + countText(roof.left_out) + " operators with least time are left out." : ""));
  responsive(panel, 320, countText(points.length) + " " + what + " by arithmetic intensity and speed", function (svg, width) {
    var left = 86, right = width - 10, bottom = 278;
    var xs = d3.extent(points, function (p) { return p.x; }), ys = d3.extent(points, function (p) { return p.y; });
    var ridges = roofs.map(function (r) { return r.ridge; }), peaks = roofs.map(function (r) { return r.peak; });
    var x = d3.scaleLog().domain([d3.min(ridges.concat(xs)) / 4, d3.max(ridges.concat(xs)) * 4]).range([left, right]);
    var y = d3.scaleLog().domain([ys[0] / 4, d3.max(peaks.concat(ys)) * 2]).range([bottom, 12]);
    // Of a decade the first, the second and the fifth; of many decades the first only.
    var decades = Math.log(y.domain()[1] / y.domain()[0]) / Math.LN10;
    yAxis(svg, y, left, right, function (v) {
      var digit = Math.round(v / Math.pow(10, Math.floor(Math.log(v) / Math.LN10 + 1e-9)));
      return digit === 1 || (decades < 3 && (digit === 2 || digit === 5)) ? flopsText(v) : "";
    }, 4);
    svg.append("g").attr("transform", "translate(0," + bottom + ")")
      .call(d3.axisBottom(x).tickValues(logTicks(x.domain(), (right - left) / 60)).tickFormat(d3.format("~r")));
    axisTitle(svg, right, 312, "FLOP per byte of device memory", "end");
    roofs.forEach(function (r) {
      // The slope begins where it enters the picture.
      var from = Math.max(x.domain()[0], y.domain()[0] / r.rate);
      var line = [[from, from * r.rate], [r.ridge, r.peak], [x.domain()[1], r.peak]];
      svg.append("path").attr("class", "mark-edge").attr("fill", "none").style("stroke-dasharray", "none")
        .attr("d", d3.line().x(function (p) { return x(p[0]); }).y(function (p) { return y(p[1]); })(line));
    });
    var size = d3.scaleSqrt().domain([0, d3.max(points, function (p) { return p.time; })]).range([3, 13]);
    var marks = svg.append("g").selectAll("circle").data(points).enter().append("circle").attr("class", "event bar-mark f-compute")
      .attr("fill-opacity", .75).attr("cx", function (p) { return x(p.x); }).attr("cy", function (p) { return y(p.y); })
      .attr("r", function (p) { return size(p.time); });
    // Above the points, which may lie where the lines end.
    roofs.forEach(function (r) {
      svg.append("text").attr("class", "strong over-marks").attr("x", right).attr("y", y(r.peak) - 5).attr("text-anchor", "end").text(flopsText(r.peak));
    });
    tip.on(marks, function (p) { return p.name + "\n" + flopsText(p.y) + " at " + trimmed(p.x) + " FLOP/byte, " + timeText(p.time); });
  });
}

function setUpCharts() {
  var list = document.getElementById("chart-list");
  var pair = element("div", { "class": "chart-pair" });
  list.appendChild(pair);
  drawSteps(pair);
  drawCopies(pair);
  drawLateness(list);
  drawRoofline(list);
  drawSamples(list);
  if (!pair.children.length) pair.remove();
  var lines = data.not_drawn || [];
  if (lines.length) {
    var panel = element("section", { "class": "panel", "aria-label": "What is not drawn" });
    lines.forEach(function (line) { panel.appendChild(element("p", { "class": "muted" }, line)); });
    list.appendChild(panel);
  }
  return list.children.length > 0;
}
