// As `medusa` makes it, without the admin pages, which the trial does not need.
const { defineConfig } = require('@medusajs/framework/utils');

module.exports = defineConfig({
  admin: { disable: true },
  projectConfig: {
    databaseUrl: process.env.DATABASE_URL,
    http: { storeCors: '*', adminCors: '*', authCors: '*', jwtSecret: 'one', cookieSecret: 'two' },
  },
  // Medusa's own lock lives in the memory of one process. With LOCKING=postgres it is kept in the database.
  modules: process.env.LOCKING !== 'postgres' ? [] : [{
    resolve: '@medusajs/medusa/locking',
    options: { providers: [{ resolve: '@medusajs/medusa/locking-postgres', id: 'locking-postgres', is_default: true }] },
  }],
});
