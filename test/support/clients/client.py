import sys

import openapi_client as client

settings = client.Configuration(host=sys.argv[1], access_token=sys.argv[2])
api = client.ApiClient(settings)
for component in client.ComponentsApi(api).list_components(page="acme").data:
    print(component.name, component.status.value)
wanted = client.CreateHttpMonitor(
    type=client.HttpMonitorType.HttpMonitorTypeHttp,
    name="Shop",
    config=client.HttpConfig(url="https://shop.example.com"),
)
monitors = client.MonitorsApi(api)
monitors.create_monitor(client.CreateMonitor(wanted))
for monitor in monitors.list_monitors().data:
    print(monitor.actual_instance.name, monitor.actual_instance.config.url)
