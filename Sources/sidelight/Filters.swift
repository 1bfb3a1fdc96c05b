import ArgumentParser
import Foundation
import SidelightFilterProcesses
import SidelightKernels
import SidelightVision
import SidelightWire
import SwiftProtobuf

/// `sidelight filters`: shows the catalogue of filters.
struct Filters: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List the filters, or describe one.")

  @Argument(help: "Filter to describe, by its name or its Core Image name. Default: list all.")
  var name: String?

  @Flag(help: "Print JSON, in the form of ListFilters.")
  var json = false

  @Flag(help: "Include the filters that this build lacks.")
  var all = false

  @OptionGroup var processes: ProcessOptions

  func run() async throws {
    let catalogue = try await self.processes.with { processes in
      var vision = VisionConfiguration()
      try await vision.add(processes)
      var catalogue = FilterCatalogue.command(vision)
      try await processes.register(in: &catalogue)
      return catalogue
    }
    guard let name else {
      let descriptions = self.all ? catalogue.allDescriptions : catalogue.descriptions
      return print(self.json ? try Self.json(descriptions) : Self.list(descriptions))
    }
    let unavailable = catalogue.unavailableFilter(named: name)
    guard let description = catalogue.description(named: name) ?? unavailable?.description else {
      let hint = catalogue.nearestName(to: name).map { " Did you mean \($0)?" } ?? ""
      throw ValidationError("There is no filter '\(name)'.\(hint)")
    }
    let page = FilterPage(filter: description, unavailability: unavailable?.reason)
    print(self.json ? try Self.json([description]) : page.text)
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
