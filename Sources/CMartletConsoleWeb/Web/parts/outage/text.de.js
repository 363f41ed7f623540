export default {
  "failing.answers": "{service} antwortet seit {time} auf alles mit {status}", "failing.silent": "{service} antwortet seit {time} nicht",
  "failing.origins": { one: "{host} und 1 weitere Adresse", other: "{host} und {n} weitere Adressen" },
  "failing.waiting": { one: "Wartende Pushs: {count}, aus 1 Sendung.", other: "Wartende Pushs: {count}, aus {n} Sendungen." }, "failing.none": "Es warten keine Pushs.",
  "failing.retries": "Martlet versucht es weiter, das nächste Mal um {next}. Der erste davon verfällt um {last}.",
  "failing.todo.service": "Nichts zu tun. Wenn es anhält, sehen Sie auf der Statusseite des Push-Dienstes nach.",
  "failing.todo.network": "Prüfen Sie Netz, Firewall und DNS dieses Servers. Sind sie in Ordnung, ist der Push-Dienst ausgefallen, und es ist nichts zu tun.",
  "failing.todo.rate": "Der Push-Dienst begrenzt die Rate. Halten Sie weniger eilige Sendungen an.",
  "failing.todo.refused": "Der Push-Dienst ist erreichbar und nimmt diese Pushs nicht an. Prüfen Sie die Zugangsdaten.",
};
