extension SettingTable {
  static let assets = Group(
    title: "Assets",
    settings: [
      Setting(
        "assets.provided", \.providedAssets, Format.providedAsset.list(), flag: "asset",
        use: .common, "PNG, JPEG or .cube files that all callers' pipelines can name."),
      Setting(
        "assets.max-per-caller", \.base.assets.maxAssetsPerCaller,
        Format.count(0 ... 65536, of: "assets"), flag: "max-assets-per-caller",
        "Maximum number of assets per caller; 0 disables uploads."),
      Setting(
        "assets.max", \.base.assets.maxAssets, Format.count(0 ... 1 << 20, of: "assets"),
        flag: "max-assets", "Maximum number of assets of all callers."),
      Setting(
        "assets.max-bytes-per-caller", \.base.assets.maxMemoryBytesPerCaller,
        Format.size(0 ... 1 << 40), flag: "max-asset-bytes-per-caller",
        "Maximum memory of one caller's assets, decoded."),
      Setting(
        "assets.max-bytes", \.base.assets.maxMemoryBytes, Format.size(0 ... 1 << 40),
        flag: "max-asset-bytes", "Maximum memory of all callers' assets, decoded."),
      Setting(
        "assets.max-file-bytes", \.base.assets.maxFileBytes, Format.size(0 ... 1 << 30),
        flag: "max-asset-file-bytes", "Maximum size of an uploaded file."),
      Setting(
        "assets.max-pixels", \.base.assets.maxPixels, Format.count(1 ... 1 << 28, of: "pixels"),
        flag: "max-asset-pixels", "Maximum size of an uploaded image, as stated in its header."),
      Setting(
        "assets.upload-timeout", \.base.assets.uploadTimeout,
        Format.duration(.milliseconds(100) ... .seconds(3600)), flag: "asset-upload-timeout",
        "Maximum duration of an upload."),
      Setting(
        "assets.lifetime", \.base.assets.lifetime, Format.duration(.zero ... .seconds(86400)),
        flag: "asset-lifetime", "Time that the assets of a caller without sessions are kept."),
    ])
}

extension Format {
  fileprivate static var providedAsset: SettingFormat<ProvidedAsset> {
    SettingFormat(
      SettingKind(type: "named file", range: "NAME=PATH"),
      parse: { text throws(InvalidSettingValue) in
        let parts = text.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, !text.hasPrefix("=") else {
          throw InvalidSettingValue("expected NAME=PATH")
        }
        return ProvidedAsset(name: String(parts[0]), path: String(parts[1]))
      },
      text: { "\($0.name)=\($0.path)" })
  }
}
