// Cannot be built where Martlet is tested: only its syntax is checked there. See README.md.
import SwiftUI

/// User name and password. Nobody can log in before the system has given this device its token: without one nothing could
/// be shown to them.
struct LogInView: View {
    let session: Session
    @State private var user = ""
    @State private var password = ""

    var body: some View {
        Form {
            Section {
                TextField("User name", text: $user)
                    .textContentType(.username)
                    .textInputAutocapitalization(.never)
                    .autocorrectionDisabled()
                SecureField("Password", text: $password).textContentType(.password)
            } footer: {
                Text(session.hasDeviceToken ? "" : "Waiting for this device's token.")
            }
            Button("Log in") {
                Task {
                    await session.logIn(user: user, password: password)
                    password = ""
                }
            }
            .disabled(!session.hasDeviceToken || user.isEmpty || password.isEmpty || session.isBusy)
        }
        .navigationTitle("NotifyUsers")
    }
}
