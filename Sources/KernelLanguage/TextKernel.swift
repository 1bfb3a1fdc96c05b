import CKernelCatalogue
import CKernels
public import SidelightKernels
import SidelightScene

/// A filter from text: `kernel(asset: "glow.kernel", intensity: 0.8)`.
///
/// It has the parameters of its text in addition to its own. A kernel that is an affine map of
/// colour is a colour matrix, which folds with its neighbours in the pipeline. Other kernels of one
/// pixel join the strips of their neighbours, and kernels that read other pixels are separate
/// passes.
struct TextKernel: CatalogueFilter, AdjustableFilter, WarpingFilter, SpaceDependentFilter {
  static let description = FilterDescription(
    name: "kernel",
    summary: "Computes each pixel by a function that is given as text.",
    category: .effect, reach: .neighborhood, fidelity: .formula,
    keywords: "custom own formula shader code program",
    examples: [
      """
      kernel(source: "param shadows: #1b1f5e param highlights: #ffd3a8 return mix(shadows.rgb, \
      highlights.rgb, smoothstep(0, 1, luma(color)))")
      """,
      """
      kernel(source: "param shift: 2.5 in 0..16 return vec3(sample(shift, 0).r, color.g, \
      sample(-shift, 0).b)", shift: 6)
      """,
    ],
    formula: """
      the text's: a function of colour, position, neighbours and time, with its own parameters \
      (docs/guides/kernels.md)
      """,
    parameters: [
      ParameterDescription(
        "asset", .asset, default: .text(""), assetKind: .kernel,
        "The name of a kernel; none for the text in `source`."),
      ParameterDescription(
        "source", .text, default: .text("color"),
        "The text of the kernel, unless `asset` names one; `color` changes nothing."),
    ])

  /// The kernel; `nil` only if its asset was replaced by one of another kind.
  let filter: KernelFilter?

  init(_ arguments: Arguments) {
    // The text has been parsed before, for its parameters, and is valid.
    let text = arguments.kernel("asset")?.text ?? (try? KernelText(arguments.text("source")))
    self.init(text.map { KernelFilter($0, arguments) })
  }

  private init(_ filter: KernelFilter?) {
    self.filter = filter
  }

  /// Returns the same kernel with other parameter values, without parsing the text again.
  func with(_ arguments: Arguments) -> TextKernel {
    TextKernel(self.filter?.with(arguments))
  }

  var warps: Bool { self.filter?.text.syntax.passes.contains(where: \.isWarp) ?? false }

  func nodes(for geometry: FrameGeometry, in space: WorkingSpace) -> [FilterNode] {
    self.filter?.nodes(for: geometry, in: space) ?? []
  }
}

extension TextKernel {
  /// Returns the parameters of the text that a call names or contains.
  ///
  /// - Parameters:
  ///   - call: The call, with unchecked values.
  ///   - assets: The source of assets.
  ///   - path: The path of the call: `stages[0].filter`.
  /// - Throws: ``PipelineError`` with code `invalidKernel` for an invalid text. Errors of the name
  ///   of an asset are left to the check of the filter's own parameters.
  static func parameters(
    of call: FilterCall, _ assets: any AssetProvider, path: String
  ) throws(PipelineError) -> [ParameterDescription] {
    let asset = call.text("asset")
    let source = call.text("source")
    if let (_, name) = asset, !name.isEmpty {
      guard case .kernel(let kernel)? = assets.asset(named: name) else { return [] }
      return kernel.text.parameters
    }
    guard let (spelling, text) = source else { return [] }
    do throws(KernelTextError) {
      return try KernelText(text).parameters
    } catch {
      throw PipelineError(
        code: .invalidKernel, path: "\(path).parameters[\"\(spelling)\"]",
        message: "line \(error.position.line), column \(error.position.column) of the kernel: "
          + error.message,
        suggestion: error.suggestion, value: error.value, limit: error.limit,
        position: error.position)
    }
  }
}

extension FilterCall {
  /// Returns the text of a parameter, with the spelling of its name in the call.
  fileprivate func text(_ name: String) -> (spelling: String, text: String)? {
    let spelling =
      self.parameters[name] != nil
      ? name : self.parameters.keys.sorted().first { Spelling.canonicalParameter($0) == name }
    guard let spelling, case .text(let text)? = self.parameters[spelling] else { return nil }
    return (spelling, text)
  }
}

extension FilterCatalogue {
  /// The filters of this package that don't need other libraries.
  public static let builtIn: FilterCatalogue = {
    var catalogue = FilterCatalogue()
    catalogue.registerPixelFilters()
    catalogue.registerSceneFilters()
    catalogue.registerKernelLanguage()
    return catalogue
  }()

  /// Adds the filter `kernel`, with calls that have the parameters of their text, and the filters
  /// that are kernels (``KernelCatalogue``).
  package mutating func registerKernelLanguage() {
    self.register(TextKernel.description) { call, assets, path throws(PipelineError) in
      try TextKernel.parameters(of: call, assets, path: path)
    } make: {
      TextKernel($0)
    }
    for text in KernelCatalogue.texts {
      self.register(text.catalogueDescription) { KernelFilter(text, $0) }
    }
  }
}

extension ResolvedPipeline {
  /// The kernels of the stages with the filter `kernel`, active or not, with their stages' paths.
  package var kernels: [(stage: String, text: KernelText)] {
    Self.kernels(of: self.stages, path: "")
  }

  private static func kernels(
    of stages: [ResolvedStage], path: String
  ) -> [(stage: String, text: KernelText)] {
    stages.enumerated().flatMap { index, stage -> [(stage: String, text: KernelText)] in
      let path = "\(path)stages[\(index)]"
      switch stage.content {
      case .filter(_, _, let value):
        return (value as? TextKernel)?.filter.map { [(path, $0.text)] } ?? []
      case .stages(let inner, _): return Self.kernels(of: inner, path: "\(path).pipeline.")
      }
    }
  }
}

/// The filters of the catalogue that are kernels: the files in the folder Catalogue.
///
/// A file is a whole filter: name, summary, category, search words, examples, parameters and code.
/// The code is also the formula of the reference page. `make reference` embeds new files.
package enum KernelCatalogue {
  /// The kernels, in the order of their names. They are parsed once; the tests check the code.
  package static let texts: [KernelText] = (0 ..< Int(kernel_file_count())).map { index in
    let file = unsafe kernel_files()[index]
    let bytes = unsafe Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
    do throws(KernelTextError) {
      return try KernelText(parsing: bytes)
    } catch {
      fatalError("the built-in kernel \(unsafe String(cString: file.name)): \(error)")
    }
  }
}

/// A kernel with the values of its parameters: a filter of the catalogue, or the content of the
/// filter `kernel`.
struct KernelFilter: AdjustableFilter, SpaceDependentFilter {
  let text: KernelText
  private let arguments: Arguments

  init(_ text: KernelText, _ arguments: Arguments) {
    self.text = text
    self.arguments = arguments
  }

  var description: FilterDescription { self.text.catalogueDescription }

  /// Returns the same kernel with other parameter values.
  func with(_ arguments: Arguments) -> KernelFilter { KernelFilter(self.text, arguments) }

  func nodes(for geometry: FrameGeometry, in space: WorkingSpace) -> [FilterNode] {
    // An asset may have been replaced since; parameters that it did not have are at their defaults.
    let values = self.text.syntax.parameters.map { parameter in
      parameter.components(of: self.arguments.values[parameter.name], in: geometry.size)
    }
    return self.text.nodes(values, self.arguments, for: geometry, in: space)
  }
}
