import SidelightKernels

/// The description of a filter for a terminal.
struct FilterPage {
  let filter: FilterDescription

  /// The page, without a final line break.
  var text: String {
    var lines = [self.filter.name, "", "  \(self.filter.summary)", ""]
    lines += Self.wrapped("  ", self.filter.textForm)
    lines.append("")
    for (name, value) in [
      ("Fidelity", self.filter.fidelity.words), ("Reads", self.filter.sees),
      ("Category", self.filter.category.rawValue), ("Formula", self.filter.formula),
    ] {
      lines += Self.wrapped("  " + name + String(repeating: " ", count: 10 - name.count), value)
    }
    lines += ["", self.filter.parameters.isEmpty ? "  No parameters." : "  Parameters"]
    for parameter in self.filter.parameters {
      lines += Self.wrapped("    ", "\(parameter.name): \(parameter.summary)")
      lines += Self.wrapped("      ", Self.facts(parameter))
    }
    return lines.joined(separator: "\n")
  }

  private static func facts(_ parameter: ParameterDescription) -> String {
    [
      parameter.kindWords, parameter.defaultWords.map { "default \($0)" } ?? "required",
      parameter.sliderWords.map { "slider \($0)" }, parameter.limitWords.map { "limits \($0)" },
    ].compactMap(\.self).joined(separator: "; ")
  }

  /// Wraps a text at 80 characters. The first line begins with the head, the others with an indent
  /// of its length.
  private static func wrapped(_ head: String, _ text: String) -> [String] {
    let indent = String(repeating: " ", count: head.count)
    var lines: [String] = []
    var line = head
    for word in text.split(whereSeparator: \.isWhitespace) {
      if line.count > head.count, line.count + word.count >= 80 {
        lines.append(line)
        line = indent
      }
      line += (line.count > head.count ? " " : "") + word
    }
    return lines + [line]
  }
}
