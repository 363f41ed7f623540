// Cannot be built where Martlet is tested: only its syntax is checked there. See README.md.
import SwiftUI

/// Whom to notify, and of what; below, what became of it.
struct SendView: View {
    @Bindable var session: Session
    @State private var recipient = ""
    @State private var message = ""

    var body: some View {
        Form {
            Section("To") {
                TextField("Recipient's user name", text: $recipient)
                    .textInputAutocapitalization(.never)
                    .autocorrectionDisabled()
                TextField("Message", text: $message, axis: .vertical)
            }
            Section {
                Button("Send") { Task { await session.send(message, to: recipient) } }
                Button("Send as a secret") { Task { await session.sendSecret(message, to: recipient) } }
                Button("Send encrypted for their devices alone") {
                    Task { await session.sendEncrypted(message, to: recipient) }
                }
            }
            .disabled(recipient.isEmpty || message.isEmpty || session.isBusy)
            Section("Results") {
                ForEach(session.results.indices, id: \.self) { Text(session.results[$0]).font(.footnote) }
            }
        }
        .navigationTitle(session.user ?? "")
        .toolbar { Button("Log out") { Task { await session.logOut() } } }
    }
}
