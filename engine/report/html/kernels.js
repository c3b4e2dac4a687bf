// The table of kernels: search, sort, more rows on demand.
var kernelColumns = [
  { title: "Kernel", at: 0, text: true }, { title: "Class", at: 1, text: true },
  { title: "Count", at: 3, show: countText }, { title: "Total", at: 4, show: timeText },
  { title: "Share", at: 5, show: function (share) { return trimmed(share * 100) + " %"; } },
  { title: "Median", at: 6, show: timeText }, { title: "Shortest", at: 7, show: timeText }, { title: "Longest", at: 8, show: timeText },
  { title: "Blocks", at: 9, show: countText }, { title: "Threads", at: 10, show: countText }, { title: "Registers", at: 11, show: countText }
];

function setUpKernels() {
  var rows = data.kernels;
  if (!rows.length) return false;
  var host = document.getElementById("kernel-table");
  // A phone shows few rows: what stands below the table is reached all the same.
  var first = window.matchMedia("(max-width: 40rem)").matches && rows.length > 18 ? 12 : 100;
  var order = { at: 4, down: true }, limit = first, searched = rows.map(function (row) { return (row[0] + " " + row[1] + " " + row[2]).toLowerCase(); });

  document.getElementById("kernels-title").textContent += chartsOf();
  var tools = element("div", { "class": "kernel-tools" });
  tools.appendChild(element("label", { "for": "kernel-find" }, "Search"));
  var search = element("input", { type: "search", id: "kernel-find", autocomplete: "off", placeholder: "name, class or precision" });
  tools.appendChild(search);
  var status = element("span", { role: "status", "class": "muted" });
  tools.appendChild(status);
  host.appendChild(tools);
  var scroll = element("div", { "class": "scroll", tabindex: "0", role: "region", "aria-label": "Kernels of the window" });
  var table = element("table");
  table.appendChild(element("caption", { hidden: "" }, "Kernels of the window by name"));
  var head = element("tr"), thead = element("thead"), body = element("tbody");
  kernelColumns.forEach(function (column) {
    var cell = element("th", { scope: "col" });
    if (!column.text) cell.className = "num";
    var button = element("button", { type: "button" });
    button.addEventListener("click", function () {
      order = { at: column.at, down: order.at === column.at ? !order.down : !column.text };
      show();
    });
    cell.appendChild(button);
    head.appendChild(cell);
    column.cell = cell;
    column.button = button;
  });
  thead.appendChild(head);
  table.appendChild(thead);
  table.appendChild(body);
  scroll.appendChild(table);
  host.appendChild(scroll);
  var more = element("button", { type: "button" });
  host.appendChild(more);

  function rowOf(row) {
    var line = element("tr");
    kernelColumns.forEach(function (column) {
      var cell;
      if (column.at === 0) {
        cell = element("th", { scope: "row" });
        var name = element("span", { title: row[0] }, row[0].replace(/^void /, "") || "(no name)");
        name.addEventListener("click", function () { name.classList.toggle("whole"); });
        cell.appendChild(name);
      } else if (column.at === 1) {
        cell = element("td", {}, (row[1] || "\u2013") + (row[2] ? ", " + row[2] : ""));
      } else {
        // Facts files keep no shapes: 0 blocks, 0 registers are none.
        var known = column.at < 7 || row[column.at] > 0;
        cell = element("td", { "class": column.at === 5 ? "num share" : "num" }, known ? column.show(row[column.at]) : "\u2013");
        if (column.at === 5) {
          var bar = element("i", { "aria-hidden": "true" });
          bar.style.width = Math.max(1, row[5] * 48) + "px";
          cell.appendChild(bar);
        }
      }
      if (column.at > 0) cell.setAttribute("data-name", column.title);
      line.appendChild(cell);
    });
    return line;
  }

  function show() {
    var words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    var fits = rows.map(function (row, at) { return at; }).filter(function (at) {
      return words.every(function (word) { return searched[at].indexOf(word) >= 0; });
    });
    fits.sort(function (a, b) {
      var x = rows[a][order.at], y = rows[b][order.at];
      var first = x < y ? -1 : x > y ? 1 : 0;
      return (order.down ? -first : first) || a - b;
    });
    kernelColumns.forEach(function (column) {
      var sorted = column.at === order.at;
      column.cell.setAttribute("aria-sort", sorted ? (order.down ? "descending" : "ascending") : "none");
      column.button.textContent = column.title + (sorted ? (order.down ? " \u25be" : " \u25b4") : "");
    });
    body.textContent = "";
    var part = document.createDocumentFragment();
    fits.slice(0, limit).forEach(function (at) { part.appendChild(rowOf(rows[at])); });
    body.appendChild(part);
    var shown = Math.min(limit, fits.length);
    status.textContent = (shown < fits.length ? countText(shown) + " of " : "") + countText(fits.length) + (fits.length === 1 ? " kernel" : " kernels") +
      (data.kernels_left_out ? "; " + countText(data.kernels_left_out) + " with least time are left out" : "");
    more.textContent = "Show all " + countText(fits.length);
    more.hidden = shown >= fits.length;
  }
  search.addEventListener("input", function () { limit = first; show(); });
  more.addEventListener("click", function () { limit = rows.length; show(); });
  window.addEventListener("beforeprint", function () { limit = Math.max(limit, 50); });
  show();
  return true;
}
