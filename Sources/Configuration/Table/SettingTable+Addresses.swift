extension SettingTable {
  static let addresses = Group(
    title: "Addresses",
    settings: [
      Setting(
        "listen", \.base.addresses, Form.address.list(atLeast: 1), short: "l", use: .everyday,
        "Where to listen, all at once; port 0 lets the system choose."),
      Setting(
        "unix-socket.mode", \.base.unixSocketPermissions, Form.mode, use: .everyday,
        "Who may connect to Unix sockets: the file's permissions."),
      Setting(
        "admin.listen", \.admin, Form.address.optional(none: "nowhere"), flag: "admin",
        use: .everyday,
        "Where probes (/livez, /readyz), /metrics, /version and a live page (/) are served over HTTP."
      ),
    ])
}
