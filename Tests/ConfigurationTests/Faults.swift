import SidelightConfiguration

/// Returns the messages of an invalid configuration; empty if it is valid.
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
