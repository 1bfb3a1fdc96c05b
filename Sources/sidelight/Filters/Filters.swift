import ArgumentParser
import Foundation
import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// `sidelight filters`: shows the catalogue of filters.
struct Filters: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List the filters, or describe one.")

  @Argument(help: "Filter to describe, by its name or its Core Image name. Default: list all.")
  var name: String?

  @Flag(help: "Print JSON, in the form of ListFilters.")
  var json = false

  @Flag(help: "Print a reference page in Markdown.")
  var markdown = false

  @Flag(help: ArgumentHelp("Print the Swift source of the typed filters.", visibility: .hidden))
  var swift = false

  @Option(
    help: ArgumentHelp(
      "Include the images NAME.jpg of a directory in the Markdown page.", valueName: "directory"),
    completion: .directory)
  var pictures: String?

  func validate() throws {
    guard [self.json, self.markdown, self.swift].count(where: \.self) <= 1 else {
      throw ValidationError("--json and --markdown cannot be combined.")
    }
    guard self.pictures == nil || self.markdown else {
      throw ValidationError("--pictures requires --markdown.")
    }
  }

  func run() throws {
    let catalogue = FilterCatalogue.command
    guard let name else {
      // Generated files do not depend on the build.
      let isGenerated = self.markdown || self.swift
      return try self.show(
        isGenerated ? catalogue.allDescriptions : catalogue.descriptions, Self.list)
    }
    let unavailable = catalogue.unavailableFilter(named: name)
    guard let description = catalogue.description(named: name) ?? unavailable?.description else {
      let hint = catalogue.nearestName(to: name).map { " Did you mean \($0)?" } ?? ""
      throw ValidationError("There is no filter '\(name)'.\(hint)")
    }
    try self.show([description]) { _ in
      FilterPage(filter: description, unavailability: unavailable?.reason).text
    }
  }

  /// Prints descriptions in the requested form; `plain` formats the default one.
  private func show(
    _ descriptions: [FilterDescription], _ plain: ([FilterDescription]) -> String
  ) throws {
    if self.json {
      print(try Self.json(descriptions))
    } else if self.markdown {
      let page = FilterReference(descriptions: descriptions, pictures: self.pictures)
      print(page.text, terminator: "")
    } else if self.swift {
      print(TypedFilters(descriptions: descriptions).text, terminator: "")
    } else {
      print(plain(descriptions))
    }
  }

  private static func list(_ descriptions: [FilterDescription]) -> String {
    let width = descriptions.map(\.name.count).max() ?? 0
    return FilterDescription.Category.allCases.compactMap { category in
      let filters = descriptions.filter { $0.category == category }
      guard !filters.isEmpty else { return nil }
      let lines = filters.map { filter in
        "  " + filter.name.padding(toLength: width + 2, withPad: " ", startingAt: 0)
          + filter.summary
      }
      return "\(category.rawValue)\n" + lines.joined(separator: "\n")
    }.joined(separator: "\n\n")
  }

  private static func json(_ descriptions: [FilterDescription]) throws -> String {
    let response = Sidelight_V1_ListFiltersResponse.with {
      $0.filters = descriptions.map(Sidelight_V1_FilterDescription.init)
    }
    let object = try JSONSerialization.jsonObject(with: Data(response.jsonUTF8Data()))
    let data = try JSONSerialization.data(
      withJSONObject: object, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
    return String(decoding: data, as: UTF8.self)
  }
}

/// The description of a filter for a terminal.
private struct FilterPage {
  let filter: FilterDescription
  /// The reason why the filter is not available; `nil` if it is.
  let unavailability: String?

  /// The page, without a final line break.
  var text: String {
    var lines = [self.filter.name, "", "  \(self.filter.summary)", ""]
    lines += Self.wrapped("  ", self.filter.textForm)
    lines.append("")
    for (name, value) in [
      ("Fidelity", self.filter.fidelity.summary), ("Reads", self.filter.inputRegion),
      ("Category", self.filter.category.rawValue), ("Formula", self.filter.formula),
    ] {
      lines += Self.wrapped("  " + name + String(repeating: " ", count: 10 - name.count), value)
    }
    if let reason = self.unavailability {
      lines += Self.wrapped("  ", "Not available: \(reason).")
    }
    lines += ["", self.filter.parameters.isEmpty ? "  No parameters." : "  Parameters"]
    for parameter in self.filter.parameters {
      lines += Self.wrapped("    ", "\(parameter.name): \(parameter.summary)")
      lines += Self.wrapped("      ", Self.details(of: parameter))
    }
    return lines.joined(separator: "\n")
  }

  private static func details(of parameter: ParameterDescription) -> String {
    [
      parameter.kindText, parameter.defaultText.map { "default \($0)" } ?? "required",
      parameter.sliderText.map { "slider \($0)" }, parameter.limitsText.map { "limits \($0)" },
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
