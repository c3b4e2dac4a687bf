// Foreign text inside HTML: what a trace calls a kernel may be anything, and stays text.
#pragma once

#include <string>
#include <string_view>

namespace advise {

// One line, for text and for quoted attributes: made safe to print, then & < > " ' escaped.
std::string HtmlText(std::string_view raw);

// The same with line breaks kept, for <pre>.
std::string HtmlCode(std::string_view raw);

// JSON for a <script> element: no "<", ">" or "&" and no line separators that end a script.
std::string ScriptSafeJson(std::string_view json);

// A link when the address is one of the web, else the address as text.
std::string HtmlLink(std::string_view address);

// A path with its file apart, and text that follows it: where room is short, a page cuts the
// folders (class "folders") and leaves the name whole (class "file").
std::string HtmlPath(const std::string& path, const std::string& more = "");

// A page without scripts. `body`: HTML that follows its heading.
std::string HtmlPage(const std::string& title, const std::string& style, const std::string& body);

}  // namespace advise
