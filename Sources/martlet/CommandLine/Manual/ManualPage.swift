/// The manual pages, generated from the table of commands.
enum ManualPage {
    /// Returns the page martlet(1): every command with its options.
    static func commands(_ table: CommandTable, version: String) -> String {
        let introduction = """
            .TH MARTLET 1 "" "martlet \(version)" "User Commands"
            .SH NAME
            martlet \\- push notification hub
            .SH SYNOPSIS
            .B martlet
            .I COMMAND
            .RI [ OPTIONS ]
            .SH DESCRIPTION
            Martlet is a self\\-hosted push notification hub. It speaks the REST API of Azure Notification Hubs and delivers
            to the push services of phones, browsers and desktops. Commands that administer a server find it by its data
            directory,
            .BR \\-\\-data .
            .SH COMMANDS
            """
        let commands = table.commands(under: []).map { command in
            ([Roff.subheading("martlet \(command.usage)"), Roff.escaped(command.summary)] + command.options.map(item))
                .joined(separator: "\n")
        }
        return ([introduction] + commands + [environment, files, output, exitStatus, seeAlso("martlet.conf (5)")])
            .joined(separator: "\n") + "\n"
    }

    /// Returns the page martlet.conf(5): the format of the file and every setting of the server.
    static func configuration(_ settings: [Option], version: String) -> String {
        let introduction = """
            .TH MARTLET.CONF 5 "" "martlet \(version)" "File Formats"
            .SH NAME
            martlet.conf \\- configuration file of martlet
            .SH DESCRIPTION
            A file that
            .B \\-\\-config
            or the environment variable
            .B MARTLET_CONFIG
            names. Each line is empty, a comment that begins with #, or a setting:
            \(Roff.example("key = value   # comment"))
            The key is the name of an option of any command, without its dashes. White space around key and value is
            removed. A value may stand in single or double quotes; without them a # after white space begins a comment.
            A switch takes
            .B true
            or
            .BR false .
            A key that no command knows, a key that is set twice and a key without a value are errors.
            .PP
            An option on the command line takes precedence over the environment, and the environment over the file.
            .SH SETTINGS
            These are the settings of
            .BR "martlet serve" .
            """
        return ([introduction] + settings.map(setting) + [seeAlso("martlet (1)")]).joined(separator: "\n") + "\n"
    }

    private static func item(_ option: Option) -> String { Roff.item(option.usage, text(option)) }

    private static func setting(_ option: Option) -> String {
        Roff.item("\(option.name) = \(option.placeholder ?? "true|false")", text(option))
    }

    private static func text(_ option: Option) -> String {
        option.help + (option.fallback.map { " Default: \($0)." } ?? "")
    }

    private static let environment =
        Roff.heading("ENVIRONMENT") + "\n"
        + Roff.item(
            "MARTLET_OPTION",
            "Each option can be set in the environment: --tls-listen is MARTLET_TLS_LISTEN. An empty variable counts as "
                + "none. What confirms something, such as --yes, must be on the command line.") + "\n"
        + Roff.item("MARTLET_CONFIG", "The configuration file, as --config names it.") + "\n"
        + Roff.item("MARTLET_SECRET_KEY", "The server's key, in place of the file secret.key in the data directory.")
        + "\n" + Roff.item("MARTLET_SECRET_KEY_FILE", "A file that holds the server's key, in place of secret.key.")
        + "\n" + Roff.item("NO_COLOR", "Where it is set, no output has colors.")

    private static let files =
        Roff.heading("FILES") + "\n"
        + Roff.item("DIR/admin.sock", "The socket in the data directory by which a running server is administered.")
        + "\n" + Roff.item("DIR/secret.key", "The key that the secrets in the data directory are encrypted with.")

    private static let output =
        Roff.heading("OUTPUT") + "\n"
        + Roff.escaped(
            "With --json a command prints one JSON object, or for a list one object on each line. Members are added; the "
                + "name or type of a member changes only with a new major version. What a command has done, "
                + "questions, progress and errors are written to standard error.")

    private static let exitStatus =
        Roff.heading("EXIT STATUS") + "\n" + Roff.item("0", "Success.") + "\n"
        + Roff.item("1", "What was asked for was refused or failed.") + "\n"
        + Roff.item("64", "The command line, the environment or the configuration file is wrong; nothing was changed.")

    private static func seeAlso(_ page: String) -> String { ".SH SEE ALSO\n.BR \(Roff.escaped(page))" }
}
