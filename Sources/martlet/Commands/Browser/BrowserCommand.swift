import Glibc
import MartletHTTP
import MartletModel
import MartletNetwork
import MartletServer

/// `martlet browser`: starts a real Firefox that receives notifications, with the simulator as its push service.
enum BrowserCommand {
    static let command = Command(
        "browser", operands: ["HUB"],
        "Start a Firefox whose push service is the simulator, with a page that registers it.",
        options: [
            .data, .adminSocket,
            Option(
                "connection-string", "CS",
                "A connection string with the right to register; where none is given, the server on --data is asked.",
                isSecret: true),
            Option("tags", "A,B", "Tags that the browser registers with."),
            Option(
                "simulator", "URL", "The simulated push services.", default: "https://127.0.0.1:9443",
                isFlagAlone: true),
            Option("installation", "ID", "The installation that the browser registers as.", default: "firefox"),
            Option("profile", "DIR", "Firefox's profile, made where it is missing; DIR/firefox of --data by default."),
            Option(
                "page-port", "PORT",
                "Where the page is served; another port is another site, with a subscription of its own.",
                default: "8091"),
            Option("program", "FILE", "Firefox itself; looked for where it is not given."),
            Option("headless", nil, "Show no window: what would be shown is only printed."),
            Option("ca-file", "FILE", "The authority to trust at the hub instead of the system's."),
            SimulatorConnection.authority,
        ]
    ) { invocation in
        let port = try invocation.required("page-port", as: "a port, 0 to 65535") { UInt16($0) }
        let hub = try HubClient(invocation)
        let program = try Firefox.find(invocation["program"])
        let service = try await BrowserService(try SimulatorConnection(invocation))
        let site = BrowserSite(
            hub: hub, service: service, installation: invocation["installation"] ?? "",
            tags: (invocation["tags"] ?? "").split(separator: ",").map(String.init))
        let server = HTTPServer(loops: try EventLoopGroup(count: 1), handler: site.router)
        let address = try await server.listen(on: .tcp(host: "127.0.0.1", port: port))
        // The URL has a host name instead of an IP address, because the browser shows the host with every notification.
        let page = "http://localhost:\(address.port)/"
        let profile = try FirefoxProfile(invocation["profile"] ?? "\(invocation["data"] ?? "data")/firefox")
        try profile.write(socketURL: service.socketURL, isHeadless: invocation.isOn("headless"))
        let firefox = try Firefox(program, profile: profile, page: page, isHeadless: invocation.isOn("headless"))
        await Signals.runUntilTermination {
            Terminal.print("martlet: ready page=\(page) profile=\(profile.directory)")
            await firefox.run()
            await server.shutDown()
        }
    }
}
