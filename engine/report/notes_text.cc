#include "engine/report/notes_text.h"

#include <fmt/format.h>

#include <string>

#include "engine/report/finding_text.h"

namespace advise {
namespace {

constexpr std::size_t kNotesShown = 3;

std::string NoteText(const Finding& finding) {
  const std::string id = finding.rule == nullptr ? "" : " (" + finding.rule->id + ")";
  return (finding.symptom.empty() ? finding.Title() : finding.Seen()) + id;
}

}  // namespace

TextNotes NotesOf(const Report& report, bool verbose) {
  TextNotes notes;
  for (const Finding& finding : report.findings) {
    const bool told = verbose || !SaysAgain(report, finding);
    if (finding.UnderCause() || finding.severity != Severity::kInfo || !told) continue;
    ++notes.all;
    const bool next = !report.next_step.empty() && report.next_step == finding.Title() + ".";
    if (next) {
      notes.in_full.insert(notes.in_full.begin(), &finding);
    } else if (verbose || !finding.falls_short) {
      notes.in_full.push_back(&finding);
    }
    notes.is_next = notes.is_next || next;
  }
  return notes;
}

void WriteNotes(Page& page, const TextNotes& notes, int column, bool verbose, int rows) {
  if (notes.all == 0) return;
  std::string label = "Good to know";
  std::size_t shown = 0;
  for (const std::size_t most = verbose ? notes.all : kNotesShown; shown < notes.in_full.size();
       ++shown) {
    Page note = page.Another();
    note.Labelled(label, 0, column, NoteText(*notes.in_full[shown]));
    rows -= note.rows();
    const int left = shown + 1 == notes.all ? 0 : 1;
    const bool must = notes.is_next && shown == 0;
    if (shown == most || (!verbose && !must && rows < left)) break;
    page.Append(note);
    label.clear();
  }
  const std::size_t left = notes.all - shown;
  if (left == 0 || (shown > 0 && rows <= 0)) return;
  page.Labelled(label, 0, column,
                fmt::format("{}{} {}: -v", shown == 0 ? "" : "and ", left,
                            shown == 0 ? left == 1 ? "note" : "notes" : "more"));
}

}  // namespace advise
