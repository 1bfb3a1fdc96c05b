extension SettingTable {
  static let addresses = Group(
    title: "Addresses",
    settings: [
      Setting(
        "listen", \.base.addresses, Form.address.list(atLeast: 1), short: "l", use: .everyday,
        "Addresses to listen on; port 0 lets the system choose."),
      Setting(
        "unix-socket.mode", \.base.unixSocketPermissions, Form.mode, use: .everyday,
        "File permissions of Unix sockets: who may connect."),
      Setting(
        "admin.listen", \.admin, Form.address.optional(none: "disabled"), flag: "admin",
        use: .everyday,
        """
        Address of the admin HTTP server: probes (/livez, /readyz), /metrics, /version and a live \
        page (/).
        """),
    ])
}
