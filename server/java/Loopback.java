import com.amazonaws.services.dynamodbv2.local.main.ServerRunner;
import com.amazonaws.services.dynamodbv2.local.server.DynamoDBProxyServer;
import java.io.IOException;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/**
 * DynamoDB Local on 127.0.0.1 only, at a port the system picks, which it prints. By itself it binds
 * every interface and has no option against that. Ends when stdin does, that is, with its parent.
 */
public final class Loopback {
    private Loopback() {}

    public static void main(String[] args) throws Exception {
        DynamoDBProxyServer local = ServerRunner.createServerFromCommandLineArgs(args);
        ServerConnector connector = connectorOf(local);
        connector.setHost("127.0.0.1");
        connector.setPort(0);
        endWithStdin(local);
        // start() would report to a telemetry service; safeStart() doesn't know of it.
        local.safeStart();
        System.out.println("listening on 127.0.0.1:" + connector.getLocalPort());
        local.join();
    }

    private static ServerConnector connectorOf(DynamoDBProxyServer local) throws Exception {
        var field = DynamoDBProxyServer.class.getDeclaredField("server");
        field.setAccessible(true);
        return (ServerConnector) ((Server) field.get(local)).getConnectors()[0];
    }

    private static void endWithStdin(DynamoDBProxyServer local) {
        var watcher = new Thread(() -> {
            try {
                System.in.transferTo(java.io.OutputStream.nullOutputStream());
            } catch (IOException broken) {
                // A broken pipe is an end as well.
            }
            var lastResort = new Thread(() -> {
                try {
                    Thread.sleep(3_000);
                } catch (InterruptedException woken) {
                    // Then end sooner.
                }
                Runtime.getRuntime().halt(0);
            });
            lastResort.setDaemon(true);
            lastResort.start();
            try {
                local.stop();
            } catch (Exception ignored) {
                // We are leaving anyway.
            }
            Runtime.getRuntime().halt(0);
        });
        watcher.setDaemon(true);
        watcher.start();
    }
}
