import GRPCCore
import GRPCProtobuf
import SidelightKernels
import SidelightWire
import SwiftProtobuf

extension FrameFilterService {
  func listFilters(
    request: Sidelight_V1_ListFiltersRequest, context: ServerContext
  ) async throws -> Sidelight_V1_ListFiltersResponse {
    let descriptions = self.engine.catalogue.descriptions
    guard request.category.isEmpty
      || FilterDescription.Category(rawValue: request.category) != nil
    else {
      let categories = FilterDescription.Category.allCases.map(\.rawValue).joined(separator: ", ")
      throw FieldFault(
        field: "category", reason: "'\(request.category)' is none of \(categories)")
    }
    return .with {
      $0.filters =
        descriptions
        .filter { request.category.isEmpty || $0.category.rawValue == request.category }
        .map(Sidelight_V1_FilterDescription.init)
    }
  }

  func describeFilter(
    request: Sidelight_V1_DescribeFilterRequest, context: ServerContext
  ) async throws -> Sidelight_V1_DescribeFilterResponse {
    guard let description = self.engine.catalogue.description(named: request.name) else {
      let hint = self.engine.catalogue.nearestName(to: request.name).map { "; did you mean \($0)?" }
      throw FieldFault(
        code: .notFound, field: "name",
        reason: "there is no filter '\(request.name.prefix(64))'\(hint ?? "")")
    }
    return .with { $0.filter = Sidelight_V1_FilterDescription(description) }
  }
}
