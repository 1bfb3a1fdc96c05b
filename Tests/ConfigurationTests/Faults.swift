import SidelightConfiguration

/// What is said of what is wrong; nothing: all is well.
func faults(
  _ arguments: [String] = [], environment: [String: String] = [:]
) -> [String] {
  do throws(SettingErrors) {
    _ = try Settings(commandLine: CommandLineSource(arguments), environment: environment)
    return []
  } catch {
    return error.all.map(\.description)
  }
}
