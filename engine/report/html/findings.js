// The list of findings: search, filters, links that open what they lead to.
function setUpFindings(draw) {
  var findings = Array.from(document.querySelectorAll("details.finding"));
  var search = document.getElementById("find");
  var severity = document.getElementById("severity");
  var area = document.getElementById("area");
  var shown = document.getElementById("shown");
  var lines = {};
  document.querySelectorAll(".ranked li").forEach(function (line) {
    lines[line.getAttribute("data-finding")] = line;
  });
  var texts = null;  // made when first searched

  function choices(select, values) {
    values.forEach(function (value) { select.appendChild(element("option", { value: value }, value)); });
  }
  function valuesOf(name) {
    return findings.map(function (finding) { return finding.getAttribute(name); })
      .filter(function (value, at, all) { return value && all.indexOf(value) === at; });
  }
  choices(severity, valuesOf("data-severity"));
  choices(area, valuesOf("data-area").sort());

  function filter() {
    var words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length && !texts) {
      texts = findings.map(function (finding) { return finding.textContent.toLowerCase(); });
    }
    var count = 0;
    findings.forEach(function (finding, at) {
      var fits = (!severity.value || finding.getAttribute("data-severity") === severity.value) &&
        (!area.value || finding.getAttribute("data-area") === area.value) &&
        words.every(function (word) { return texts[at].indexOf(word) >= 0; });
      finding.hidden = !fits;
      var line = lines[finding.id.slice("finding-".length)];
      if (line) line.hidden = !fits;
      if (fits) ++count;
    });
    shown.textContent = count === findings.length ? "" : count + " of " + findings.length + " findings shown";
  }

  function openHash() {
    var target = location.hash.indexOf("#finding-") === 0 && document.getElementById(location.hash.slice(1));
    if (!target) return;
    target.hidden = false;
    target.open = true;
    target.querySelector("summary").focus({ preventScroll: true });
    target.scrollIntoView();
  }

  [search, severity, area].forEach(function (control) { control.addEventListener("input", filter); });
  document.getElementById("filters").addEventListener("submit", function (event) { event.preventDefault(); });
  document.getElementById("open-all").addEventListener("click", function () {
    findings.forEach(function (finding) { finding.open = !finding.hidden || finding.open; });
  });
  document.getElementById("close-all").addEventListener("click", function () {
    findings.forEach(function (finding) { finding.open = false; });
  });
  findings.forEach(function (finding) {
    finding.addEventListener("toggle", function () { if (finding.open) draw(finding); });
    if (finding.open) draw(finding);
  });
  window.addEventListener("hashchange", openHash);
  window.addEventListener("beforeprint", function () {
    findings.forEach(function (finding) { if (!finding.hidden) finding.open = true; });
  });
  openHash();
  if (findings.length < 2) document.getElementById("filters").hidden = true;
}
