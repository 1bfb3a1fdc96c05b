extension SettingTable {
  static let addresses = Group(
    title: "Addresses",
    settings: [
      Setting(
        "listen", \.base.addresses, Format.address.list(atLeast: 1), short: "l", use: .common,
        "Addresses to listen on; port 0 lets the system choose."),
      Setting(
        "unix-socket.mode", \.base.unixSocketPermissions, Format.mode, use: .common,
        "File permissions of Unix sockets: who may connect."),
      Setting(
        "admin.listen", \.admin, Format.address.optional(none: "disabled"), flag: "admin",
        use: .common,
        """
        Address of the admin HTTP server: probes (/livez, /readyz), /metrics, /version and a live \
        page (/).
        """),
    ])
}
