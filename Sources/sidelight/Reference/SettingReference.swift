import SidelightConfiguration

/// The reference page of all settings, in Markdown.
struct SettingReference {
  /// The page, ended by a line break.
  var text: String {
    ([Self.head] + SettingTable.groups.map(Self.chapter)).joined(separator: "\n")
  }

  private static let head = """
    <!-- Made by `make reference` from Sources/Configuration/Table, as are `sidelight serve --help-all` \
    and deploy/sidelight.yaml. Do not edit. -->
    # Settings

    What `sidelight serve` can be told. A setting is given as a flag, as an environment variable, or in \
    a file; of several the first of these wins, and what nobody gives has its default. `sidelight serve \
    --print-config` shows each value and where it came from, `--print-config=yaml` the same as a file.

    ```sh
    sidelight serve --config /etc/sidelight.yaml --max-sessions 64
    SIDELIGHT_LIMITS_MAX_SESSIONS=64 sidelight serve
    ```

    ```yaml
    limits:
      max-sessions: 64
    guards:
      keepalive-interval: 10s
    ```

    - The **file** is named by `--config`, else by the variable `SIDELIGHT_CONFIG`. It is YAML: sections, \
    keys, values and lists of them, without anchors and aliases, at most 1 MiB. \
    [`deploy/sidelight.yaml`](../../deploy/sidelight.yaml) has every setting, to begin with.
    - A **variable** is `SIDELIGHT_` and the setting in capitals, with `_` for what is no letter or \
    digit. Lists are separated by commas. Variables of that form that mean nothing are refused, except those \
    that Kubernetes makes for services of that name.
    - **Flags** are followed by their value or joined to it by `=`; those of lists may be repeated, of \
    others the last counts.
    - A **duration** is `500ms`, `10s`, `5min` or `1h`; a number alone is seconds. A **size** is `512KiB`, \
    `64MiB` or `2GiB`; a number alone is bytes, where no other unit is named.
    - What is unknown, of the wrong kind or out of range stops the start with exit status 64. All of it is \
    told at once, with its source, its value, its range and the nearest name.
    - **SIGHUP** reads the file again. Settings marked *reload* then change without a session losing a \
    frame; for others the log says that they need a restart. A file with a fault changes nothing, and the \
    log has its faults. Lines of the log, and the metric `sidelight_configuration_reloads_total`, tell of it.

    """

  private static func chapter(_ group: SettingTable.Group) -> String {
    let defaults = Settings.defaults
    let rows = group.settings.map { setting in
      let value = defaults.texts(of: setting).map { texts in
        texts.isEmpty ? "none" : texts.map { "`\($0)`" }.joined(separator: ", ")
      }
      let cells = [
        "`\(setting.key)`",
        setting.flag.map { flag in
          (setting.shortFlag.map { "`-\($0)`, " } ?? "") + "`\(flag)`"
        } ?? "none",
        setting.kind.words, value ?? setting.kind.none ?? "none",
        setting.change == .onReload ? "reload" : "restart", setting.summary,
      ]
      return "| \(cells.joined(separator: " | ")) |\n"
    }
    return
      "## \(group.title)\n\n| setting | flag | takes | default | change | |\n|---|---|---|---|---|---|\n"
      + rows.joined()
  }
}

extension SettingKind {
  /// What a value is: `duration, 1s to 24h`, `list of users (uid)`.
  var words: String {
    let type = (self.isList ? "list: " : "") + self.type + (self.unit.map { " (\($0))" } ?? "")
    return [type, self.range].compactMap(\.self).joined(separator: ", ")
  }
}
