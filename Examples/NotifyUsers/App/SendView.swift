// Cannot be built where Martlet is tested: only its syntax is checked there. See README.md.
import SwiftUI

/// Whom to notify, of what, and by which services; below, which of them failed.
struct SendView: View {
    @Bindable var session: Session
    @State private var recipient = ""
    @State private var message = ""
    @State private var services: Set<Session.Service> = [.apns]

    var body: some View {
        Form {
            Section("To") {
                TextField("Recipient's user name", text: $recipient)
                    .textInputAutocapitalization(.never)
                    .autocorrectionDisabled()
                TextField("Message", text: $message, axis: .vertical)
            }
            Section("Services") {
                ForEach(Session.Service.allCases) { service in
                    Toggle(service.rawValue, isOn: isOn(service))
                }
            }
            Section {
                Button("Send") { Task { await session.send(message, to: recipient, by: services) } }
                    .disabled(services.isEmpty)
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

    private func isOn(_ service: Session.Service) -> Binding<Bool> {
        Binding(
            get: { services.contains(service) },
            set: { isOn in
                if isOn { services.insert(service) } else { services.remove(service) }
            })
    }
}
