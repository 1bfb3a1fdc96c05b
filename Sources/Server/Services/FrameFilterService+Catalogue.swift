import GRPCCore
import GRPCProtobuf
import SidelightKernels
import SidelightWire
import SwiftProtobuf

extension FrameFilterService {
  func listFilters(
    request: ServerRequest<Sidelight_V1_ListFiltersRequest>, context: ServerContext
  ) async throws -> ServerResponse<Sidelight_V1_ListFiltersResponse> {
    let category = request.message.category
    try ContractLimits.check(category, atMost: Pipeline.maxNameBytes, field: "category")
    let descriptions = self.engine.catalogue.descriptions
    guard category.isEmpty || FilterDescription.Category(rawValue: category) != nil else {
      let categories = FilterDescription.Category.allCases.map(\.rawValue).joined(separator: ", ")
      throw FieldFault(
        field: "category", reason: "'\(category)' is none of \(categories)")
    }
    let response = Sidelight_V1_ListFiltersResponse.with {
      $0.filters =
        descriptions
        .filter { category.isEmpty || $0.category.rawValue == category }
        .map(Sidelight_V1_FilterDescription.init)
    }
    return ServerResponse(message: response)
  }

  func describeFilter(
    request: ServerRequest<Sidelight_V1_DescribeFilterRequest>, context: ServerContext
  ) async throws -> ServerResponse<Sidelight_V1_DescribeFilterResponse> {
    let name = request.message.name
    try ContractLimits.check(name, atMost: Pipeline.maxNameBytes, field: "name")
    guard let description = self.engine.catalogue.description(named: name) else {
      let hint = self.engine.catalogue.nearestName(to: name).map { "; did you mean \($0)?" }
      throw FieldFault(
        code: .notFound, field: "name",
        reason: "there is no filter '\(name)'\(hint ?? "")")
    }
    return ServerResponse(
      message: .with { $0.filter = Sidelight_V1_FilterDescription(description) })
  }
}
