/// Finds the assets that one call's parameters name.
struct AssetFinder {
  /// Where assets are.
  let provider: any AssetProvider
  /// Where the call stands: `stages[0].filter`.
  let path: String

  /// - Returns: The same arguments, with their assets.
  /// - Throws: ``PipelineError`` with code `unknownAsset`, and the nearest name.
  func find(
    for description: FilterDescription, _ arguments: Arguments
  ) throws(PipelineError) -> Arguments {
    var assets: [String: Asset] = [:]
    for parameter in description.parameters {
      guard let kind = parameter.assetKind, case .text(let name) = arguments.values[parameter.name]
      else { continue }
      if name.isEmpty, parameter.defaultValue == .text("") { continue }
      if name == Asset.sourceName, parameter.acceptsSource { continue }
      let path = "\(self.path).parameters[\"\(parameter.name)\"]"
      guard name != Asset.sourceName else {
        throw PipelineError(
          code: .unknownAsset, path: path,
          message: "\"\(name)\" is the frame as it came in, which \(parameter.name) cannot be")
      }
      guard let asset = self.provider.asset(named: name) else {
        throw PipelineError(
          code: .unknownAsset, path: path,
          message: "there is no asset named \"\(name.clipped(toBytes: 64))\"",
          suggestion: Spelling.nearest(to: name, among: self.provider.names))
      }
      guard asset.kind == kind else {
        throw PipelineError(
          code: .unknownAsset, path: path,
          message:
            "the asset \"\(name.clipped(toBytes: 64))\" is \(asset.kind.words), not \(kind.words)")
      }
      assets[parameter.name] = asset
    }
    return assets.isEmpty ? arguments : Arguments(values: arguments.values, assets: assets)
  }
}

extension Asset.Kind {
  /// For messages: `an image`.
  fileprivate var words: String {
    switch self {
    case .image: "an image"
    case .cube: "a colour cube"
    }
  }
}
