import CKernels
import SidelightKernels

/// A kernel with the values of its parameters: a filter of the catalogue, or the content of the
/// filter `kernel`.
struct KernelFilter: AdjustableFilter {
  let text: KernelText
  private let arguments: Arguments

  init(_ text: KernelText, _ arguments: Arguments) {
    self.text = text
    self.arguments = arguments
  }

  var description: FilterDescription { self.text.catalogueDescription }

  /// Returns the same kernel with other parameter values.
  func with(_ arguments: Arguments) -> KernelFilter { KernelFilter(self.text, arguments) }

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    self.nodes(for: geometry, in: .sRGBGamma)
  }

  func nodes(for geometry: FrameGeometry, in space: WorkingSpace) -> [FilterNode] {
    // An asset may have been replaced since; parameters that it did not have are at their defaults.
    let values = self.text.syntax.parameters.map { parameter in
      parameter.components(of: self.arguments.values[parameter.name], in: geometry.size)
    }
    return self.text.nodes(values, self.arguments, for: geometry, in: space)
  }
}
