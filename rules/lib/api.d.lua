---@meta
-- What rules may call, for the Lua language server: set "Lua.workspace.library" to this folder and to one with facts.d.lua,
-- which `advise rules docs -o DIR` writes (an installed program has both in share/advise/rules/lib). The functions themselves
-- are in engine/script/api.cc. Annotate the parameters of a rule's functions to have fact names completed and checked:
-- ---@param f Facts

---True when `x` is at least `threshold`; `advise why` shows the comparison.
---@param x number
---@param threshold number
---@return boolean
function at_least(x, threshold) end

---True when `x` is at most `threshold`; `advise why` shows the comparison.
---@param x number
---@param threshold number
---@return boolean
function at_most(x, threshold) end

---True when `low <= x <= high`; `advise why` shows the comparison.
---@param x number
---@param low number
---@param high number
---@return boolean
function between(x, low, high) end

---`part / whole`, 0 when `whole` is 0.
---@param part number
---@param whole number
---@return number
function share(part, whole) end

---The sum of a column; 0 for no rows.
---@param rows Rows|table[]
---@param column string
---@return number
function sum(rows, column) end

---The `n` rows with the largest value in `column`, largest first.
---@param rows Rows|table[]
---@param column string
---@param n number
---@return table[]
function top(rows, column, n) end

---The rows for which `test` is true.
---@param rows Rows|table[]
---@param test fun(row: table): boolean
---@return table[]
function filter(rows, test) end

---Adds the row's columns to the evidence, but for names that it has already.
---@param evidence table
---@param row table
---@return table evidence
function adopt(evidence, row) end

---Whether the whole name matches: `*` any run of characters, `?` one; case does not matter.
---@param name string
---@param glob string
---@return boolean
function matches(name, glob) end

---Whether `part` stands in `text`; case matters.
---@param text string
---@param part string
---@return boolean
function contains(text, part) end

---Whether `text` begins with `part`; case matters.
---@param text string
---@param part string
---@return boolean
function starts_with(text, part) end

---A number as reports print it: `in_words(12345, "count")` is "12,345", `in_words(0.31, "pct")` is "31 %".
---@param value number
---@param kind "pct"|"time"|"bytes"|"rate"|"flops"|"count"|"num"
---@return string
function in_words(value, kind) end

---A read-only array of records.
---@class Rows
---@field [integer] table<string, number|string>

---Time on devices.
---@class Spans
---@field time number  summed length in ns
---@field count number  how many pieces

---What a fix changes in the run; hand it to saving().
---@class Remedy

---What a rule file returns; docs/howto/add-a-rule.md describes each field.
---@class Rule
---@field id string
---@field title string
---@field status "experimental"|"stable"|"retired"
---@field since string
---@field kind "root"|"symptom"|"info"
---@field effort "flag"|"code"|"design"
---@field priority? number
---@field explains? string[]
---@field knowledge? string[]
---@field needs_loop? boolean  the finding means something only in a loop
---@field loss? string  the group of facts that tells what is lost: gives share, min_share and the saving
---@field measure? string  a group of facts that loses nothing by itself
---@field evidence? table<integer|string, string>  facts to show; names are looked up inside the group first
---@field not_applicable? string  the reason when there is nothing to judge
---@field needs? string[]
---@field optional? string[]
---@field thresholds? string[]
---@field references? string[]
---@field symptom string
---@field cause string
---@field fixes table[]
---@field false_positives string
---@field replaces? string
---@field applies? string|fun(f: Facts): boolean, string?
---@field detect? fun(f: Facts, t: table<string, number>, e: table): table?
---@field saving? DeclaredSaving|fun(f: Facts, t: table<string, number>, e: table): Saving?
---@field tests table[]

---`saving` as a table; facts stand in it by name. Without claims and remedy, those of the loss.
---@class DeclaredSaving
---@field claims? string|string[]
---@field remedy? string|string[]
---@field part? number|string  a number, or the name of a threshold
---@field confidence? number
---@field confidence_from? string
---@field basis string

---What saving() returns.
---@class Saving
---@field claims? Spans|Spans[]
---@field remedy? Remedy|Remedy[]
---@field part? number
---@field confidence? number
---@field confidence_from? string  what makes it so sure
---@field basis string
