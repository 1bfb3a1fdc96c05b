import ArgumentParser
import Foundation
import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// `sidelight filters`: the catalogue, from the filters' own descriptions.
struct Filters: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists the filters, or describes one.")

  @Argument(help: "The filter to describe; its Core Image name serves too. Default: list all.")
  var name: String?

  @Flag(help: "As JSON, in the form of ListFilters.")
  var json = false

  func run() throws {
    let catalogue = FilterCatalogue.builtIn
    guard let name else {
      print(self.json ? try Self.json(catalogue.descriptions) : Self.list(catalogue.descriptions))
      return
    }
    guard let description = catalogue.description(named: name) else {
      let hint = catalogue.nearestName(to: name).map { " Did you mean \($0)?" } ?? ""
      throw ValidationError("There is no filter '\(name)'.\(hint)")
    }
    print(self.json ? try Self.json([description]) : Self.page(description))
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

  private static func page(_ filter: FilterDescription) -> String {
    var lines = [filter.name, "", "  \(filter.summary)", ""]
    lines += ["  Fidelity  \(filter.fidelity.rawValue)", "  Formula   \(filter.formula)", ""]
    if filter.parameters.isEmpty { return (lines + ["  No parameters."]).joined(separator: "\n") }
    lines.append("  Parameters")
    for parameter in filter.parameters {
      lines.append("    \(parameter.name): \(parameter.summary)")
      lines.append("      \(Self.facts(parameter).joined(separator: "; "))")
    }
    return lines.joined(separator: "\n")
  }

  private static func facts(_ parameter: ParameterDescription) -> [String] {
    var facts: [String] = []
    switch parameter.kind {
    case .choice(let names): facts.append("one of \(names.joined(separator: ", "))")
    case .vector(let count): facts.append("\(count) numbers")
    case .number: facts.append("number")
    case .length: facts.append("length")
    case .point: facts.append("point")
    case .color: facts.append("colour")
    case .flag: facts.append("true or false")
    case .asset: facts.append("name of an asset")
    }
    if parameter.unit != .none { facts[0] += " (\(parameter.unit.rawValue))" }
    if let value = parameter.defaultValue {
      facts.append("default \(value.textForm)")
    } else {
      facts.append("must be given")
    }
    if let slider = parameter.slider {
      facts.append("slider \(slider.lowerBound) to \(slider.upperBound)")
    }
    if let limits = parameter.limits {
      facts.append("at least \(limits.lowerBound), at most \(limits.upperBound)")
    }
    return facts
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
