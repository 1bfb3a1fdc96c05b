import SidelightKernels

/// A parameter in a pipeline that names an asset.
struct AssetUse {
  /// The asset's name.
  let name: String
  /// The path of the parameter, as in ``PipelineError``: `stages[1].filter.parameters["asset"]`.
  let path: String
}

extension Pipeline {
  /// Returns the parameters that name an asset, of filters that are in the catalogue. Parameters
  /// that name the source frame are left out.
  func assetUses(in catalogue: FilterCatalogue) -> [AssetUse] {
    self.assetUses(in: catalogue, path: "")
  }

  private func assetUses(in catalogue: FilterCatalogue, path: String) -> [AssetUse] {
    self.stages.enumerated().flatMap { index, stage -> [AssetUse] in
      switch stage.content {
      case .pipeline(let inner):
        return inner.assetUses(in: catalogue, path: "\(path)stages[\(index)].pipeline.")
      case .filter(let call):
        let parameters = catalogue.description(named: call.name)?.parameters ?? []
        return call.parameters.compactMap { name, value -> AssetUse? in
          guard case .text(let asset) = value, !asset.isEmpty, asset != Asset.sourceName,
            parameters.contains(where: { $0.assetKind != nil && $0.isSpelled(name) })
          else { return nil }
          return AssetUse(
            name: asset, path: "\(path)stages[\(index)].filter.parameters[\"\(name)\"]")
        }.sorted { $0.path < $1.path }
      }
    }
  }
}

extension ParameterDescription {
  /// Returns whether a name is the parameter's, or its Core Image name: `inputMaskImage` for
  /// `maskImage`.
  fileprivate func isSpelled(_ name: String) -> Bool {
    name == self.name || name == "input" + self.name.prefix(1).uppercased() + self.name.dropFirst()
  }
}
