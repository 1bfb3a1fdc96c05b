extension SettingTable {
  static let assets = Group(
    title: "Assets",
    settings: [
      Setting(
        "assets.provided", \.providedAssets, Form.providedAsset.list(), flag: "asset",
        use: .everyday, "PNG, JPEG or .cube files that the pipelines of all callers can name."),
      Setting(
        "assets.max-per-caller", \.base.assets.maxAssetsPerCaller,
        Form.count(0 ... 65536, of: "assets"), flag: "max-assets-per-caller",
        "Assets that one caller may put; with 0 nobody puts any."),
      Setting(
        "assets.max", \.base.assets.maxAssets, Form.count(0 ... 1 << 20, of: "assets"),
        flag: "max-assets", "Assets of all callers."),
      Setting(
        "assets.max-bytes-per-caller", \.base.assets.maxMemoryBytesPerCaller,
        Form.size(0 ... 1 << 40), flag: "max-asset-bytes-per-caller",
        "What the assets of one caller may take in memory, decoded."),
      Setting(
        "assets.max-bytes", \.base.assets.maxMemoryBytes, Form.size(0 ... 1 << 40),
        flag: "max-asset-bytes", "What the assets of all callers may take in memory, decoded."),
      Setting(
        "assets.max-file-bytes", \.base.assets.maxFileBytes, Form.size(0 ... 1 << 30),
        flag: "max-asset-file-bytes", "The largest file that is put."),
      Setting(
        "assets.max-pixels", \.base.assets.maxPixels, Form.count(1 ... 1 << 28, of: "pixels"),
        flag: "max-asset-pixels", "The largest picture that is put, as its header states it."),
      Setting(
        "assets.upload-timeout", \.base.assets.uploadTimeout,
        Form.duration(.milliseconds(100) ... .seconds(3600)), flag: "asset-upload-timeout",
        "How long an upload may take."),
      Setting(
        "assets.lifetime", \.base.assets.lifetime, Form.duration(.zero ... .seconds(86400)),
        flag: "asset-lifetime", "How long the assets of a caller without sessions are kept."),
    ])
}

extension Form {
  fileprivate static var providedAsset: SettingForm<ProvidedAsset> {
    SettingForm(
      SettingKind(type: "file with a name", range: "NAME=PATH"),
      parse: { text throws(SettingRefusal) in
        let parts = text.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, !text.hasPrefix("=") else {
          throw SettingRefusal("NAME=PATH is expected")
        }
        return ProvidedAsset(name: String(parts[0]), path: String(parts[1]))
      },
      text: { "\($0.name)=\($0.path)" })
  }
}
