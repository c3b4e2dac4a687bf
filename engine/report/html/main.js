// Puts the page together: what needs scripts is hidden until they run.
var timelines = {};
(data.timelines || []).forEach(function (timeline) { timelines[timeline.finding] = timeline; });

function drawFinding(finding) {
  var host = finding.querySelector(".timeline");
  var timeline = host && timelines[host.getAttribute("data-finding")];
  if (!timeline || host.getAttribute("data-drawn")) return;
  host.setAttribute("data-drawn", "yes");
  drawTimeline(host, timeline);
}

function reveal(selector, there) {
  document.querySelectorAll(selector).forEach(function (node) { node.hidden = !there; });
}

setUpTheme();
setUpCopying();
reveal("#theme, #filters, #shown", true);
setUpFindings(drawFinding);
if (data.kernels) {
  reveal("#charts", true);  // shown before drawing: charts take the width they find
  var anyChart = setUpCharts();
  reveal("#charts, nav a[href='#charts']", anyChart);
  reveal("#kernels, nav a[href='#kernels']", setUpKernels());
}
document.documentElement.setAttribute("data-ready", "yes");
