import Foundation
import SidelightKernels

/// The reference page of a catalogue, in Markdown.
struct FilterReference {
  let descriptions: [FilterDescription]
  /// The folder of `NAME.jpg`, as seen from where the page is made; a filter without picture has none
  /// on the page.
  let pictures: String?

  /// The page, ended by a line break.
  var text: String {
    let chapters = FilterDescription.Category.allCases.map { category in
      (category, self.descriptions.filter { $0.category == category })
    }.filter { !$0.1.isEmpty }
    return [
      Self.head(count: self.descriptions.count),
      chapters.map(Self.contents).joined(separator: "\n") + "\n",
      chapters.map { category, filters in
        "## \(category.title)\n\n" + filters.map(self.section).joined(separator: "\n")
      }.joined(separator: "\n"),
    ].joined(separator: "\n")
  }

  private static func head(count: Int) -> String {
    """
    <!-- Made by `make reference` from the filters' own descriptions, as are `sidelight filters NAME` \
    and `DescribeFilter`. Do not edit. -->
    # The filters

    \(count) filter\(count == 1 ? "" : "s"). Names, parameters and defaults are those of Core \
    Image's filter of the same name, where there is one; its spellings (`CISepiaTone`, \
    `inputIntensity`) are understood too. The [gallery](gallery.md) shows every filter on a \
    photograph and on a chart.

    - **Text form**: the filter as a pipeline has it, all parameters at their defaults. What is left \
    out has its default.
    - **Fidelity** is how close a filter can be to the one that it is named after. *formula*: the \
    computation is documented or exact. *modelled*: the behaviour is documented, the formula is ours. \
    *approximation*: a fixed look, tuned by eye.
    - **Sees** is what of the frame one pixel of the result depends on, and so what the filter costs: \
    those that see one pixel fuse with their neighbours in the pipeline into one pass over memory.
    - **Slider** is the range that makes sense to show, not a limit. Values beyond the **limits** are \
    refused; where none are stated, numbers lie between -1e6 and 1e6.
    - A **length** is in pixels (`12`), or a share of the frame's width (`0.5w`), height (`0.5h`) or \
    short side (`0.1min`). A **point** is two of them from the left top corner: `(0.5w, 0.5h)`.
    - In the formulas colours are gamma-encoded, 0 to 1, with straight alpha unless it is said \
    otherwise. Between filters nothing is clamped or rounded.
    - In I420 and NV12 a chroma sample lies in the middle of its 2x2 pixels, as in JPEG. Each of \
    these pixels has the sample, and the sample of a result is the mean of the results of its \
    pixels. The last sample along an odd side has one column or one row of pixels. Filters of one \
    pixel, `gaussianBlur`, `boxBlur`, `motionBlur`, `unsharpMask` and the convolutions compute chroma so. \
    `bloom` and `gloom` blur it so. Other filters of neighbourhoods and of the whole frame work on \
    the chroma plane, with half the lengths.
    - In linear light (`@linear`) filters of neighbourhoods and of the whole frame work on red, \
    green and blue of every pixel, in I420 and NV12 too; the result gets chroma when it leaves \
    linear light ([decision 30](../decisions/0030-linear-light-has-no-shared-chroma.md)).

    """
  }

  private static func contents(
    _ category: FilterDescription.Category, _ filters: [FilterDescription]
  ) -> String {
    let anchor = category.title.lowercased().filter { $0.isLetter || $0 == " " }
      .replacing(" ", with: "-")
    return "- [\(category.title)](#\(anchor)): "
      + filters.map { "[\($0.name)](#\($0.name.lowercased()))" }.joined(separator: ", ")
  }

  private func section(_ filter: FilterDescription) -> String {
    var lines = ["### \(filter.name)", "", Self.escaped(filter.summary), ""]
    lines += ["```", filter.textForm, "```", ""]
    if let pictures, FileManager.default.fileExists(atPath: "\(pictures)/\(filter.name).jpg") {
      lines.append(
        "[![\(filter.name) on a photograph and on a chart](\(pictures)/\(filter.name).jpg)]"
          + "(gallery.md#\(filter.name.lowercased()))")
      lines.append("")
    }
    lines.append("- Fidelity: \(filter.fidelity.rawValue)")
    lines.append("- Sees: \(filter.sees)")
    lines.append("- Formula: \(Self.escaped(filter.formula))")
    lines.append("")
    guard !filter.parameters.isEmpty else {
      return (lines + ["No parameters.", ""]).joined(separator: "\n")
    }
    lines.append("| parameter | takes | default | slider | limits | |")
    lines.append("|---|---|---|---|---|---|")
    for parameter in filter.parameters {
      let cells = [
        "`\(parameter.name)`", parameter.kindWords,
        parameter.defaultWords.map { "`\($0)`" } ?? "must be given",
        parameter.sliderWords ?? "", parameter.limitWords ?? "",
        Self.escaped(parameter.summary),
      ]
      lines.append("| " + cells.joined(separator: " | ") + " |")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// A text that Markdown shows as it is.
  private static func escaped(_ text: String) -> String {
    let characters = Array(text)
    return characters.indices.reduce(into: "") { result, index in
      let character = characters[index]
      let neighbors = [index - 1, index + 1].filter(characters.indices.contains)
      switch character {
      case "\\", "`", "<", "[", "|", "~": result.append("\\")
      // Those that stand between spaces mean themselves.
      case "*", "_":
        if !neighbors.allSatisfy({ characters[$0].isWhitespace }) { result.append("\\") }
      default: break
      }
      result.append(character)
    }
  }
}
