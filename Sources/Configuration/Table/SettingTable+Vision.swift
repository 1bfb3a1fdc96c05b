import SidelightVision

extension SettingTable {
  static let vision = Group(
    title: "Models",
    settings: [
      Setting(
        "models", \.models, Format.model.list(), flag: "model",
        """
        ONNX models for mattes, faces or landmarks. They are loaded and run once at the start, \
        which fails if one of them cannot run. In files a model can also be a mapping of name, \
        task, file and runtime.
        """),
      Setting(
        "onnx-runtime", \.onnxRuntime, Format.path().optional(none: "models run in OpenCV"),
        "ONNX Runtime's shared library, in which models run unless they name another runtime."),
    ])
}

extension Format {
  /// A model, as text or as a mapping.
  fileprivate static var model: SettingFormat<ConfiguredModel> {
    var format = SettingFormat(
      SettingKind(type: "model", range: ConfiguredModel.form),
      parse: { text throws(InvalidSettingValue) in
        do throws(VisionError) {
          return try ConfiguredModel(text)
        } catch {
          throw InvalidSettingValue(error.message)
        }
      },
      text: \.description)
    format.mapping = SettingMapping(fields: ConfiguredModel.fieldNames) {
      fields throws(InvalidSettingValue) in
      do throws(VisionError) {
        return try ConfiguredModel(fields: fields).description
      } catch {
        throw InvalidSettingValue(error.message)
      }
    }
    return format
  }
}
